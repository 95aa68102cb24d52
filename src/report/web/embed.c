/* Puts files of text into a C header, a string each: embed OUT.h FILE… */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void put_name(FILE *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    for (path = slash ? slash + 1 : path; *path; path++)
        fputc(isalnum((unsigned char)*path) ? *path : '_', out);
}

static int put_file(FILE *out, const char *path)
{
    FILE *in = fopen(path, "rb");
    unsigned n = 0;
    if (!in) {
        perror(path);
        return -1;
    }
    fputs("static const char web_", out);
    put_name(out, path);
    fputs("[] = {", out);
    for (int c; (c = fgetc(in)) != EOF;)
        fprintf(out, "%s%d,", n++ % 24 == 0 ? "\n" : "", (signed char)c);
    fputs("0};\n", out);
    int failed = ferror(in);
    fclose(in);
    return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    FILE *out = argc > 2 ? fopen(argv[1], "wb") : NULL;
    if (!out) {
        fputs("usage: embed OUT.h FILE...\n", stderr);
        return 2;
    }
    int failed = 0;
    for (int i = 2; i < argc; i++)
        failed |= put_file(out, argv[i]);
    return fclose(out) != 0 || failed;
}
