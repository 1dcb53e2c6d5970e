# The functions whose calls go through the clock.
s/^PHASE_[A-Z]*(\([A-Za-z_]*\),.*/\1/p
s/^__wrap_\([A-Za-z_]*\)(.*/\1/p
