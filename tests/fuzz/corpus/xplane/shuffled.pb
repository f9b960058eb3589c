
V/device:TPU:0*device_offset_ps"
opXLA Ops"šx"	