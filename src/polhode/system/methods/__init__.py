"""The methods of System, one class for each subject; each calls the record of its quantity in `system/catalogue/`."""
