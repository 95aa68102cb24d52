# A text as a C array of its lines; comments are left out, their lines are kept for the numbers.
BEGIN {
    print "#include \"report/doctor/builtin.h\"\n"
    print "const char *const tp_doctor_builtin[] = {"
}
{
    if ($0 ~ /^[ \t]*#/) $0 = ""
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    gsub(/\?/, "\\?")
    gsub(/\r/, "\\r")
    gsub(/\t/, "\\t")
    print "    \"" $0 "\\n\","
}
END { print "    0};" }
