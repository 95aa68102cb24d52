int tiny_shim;
