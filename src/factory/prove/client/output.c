#include <stdio.h>

#include "client.h"

void tp_put_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\' || (unsigned char)*s < 0x20)
            fprintf(f, "\\u%04x", (unsigned char)*s);
        else
            fputc(*s, f);
    }
    fputc('"', f);
}

static void put_string(const char *s)
{
    tp_put_string(stdout, s);
}

static void put_bool(bool value)
{
    fputs(value ? "true" : "false", stdout);
}

/* Lines end here: what follows a crash is lost, what came before is not. */
static void end_line(void)
{
    fputs("}\n", stdout);
    fflush(stdout);
    funlockfile(stdout);
}

static void begin_line(const char *kind, const char *name)
{
    flockfile(stdout);
    printf("{\"%s\": ", kind);
    put_string(name);
}

void tp_print_check(const char *id, bool ok, bool skipped, int64_t ms, const char *detail)
{
    begin_line("check", id);
    fputs(", \"ok\": ", stdout);
    put_bool(ok);
    fputs(", \"skipped\": ", stdout);
    put_bool(skipped);
    printf(", \"ms\": %lld, \"detail\": ", (long long)ms);
    put_string(detail);
    end_line();
}

static void begin_fact(const char *name)
{
    begin_line("fact", name);
    fputs(", \"value\": ", stdout);
}

void tp_print_string(const char *name, const char *value)
{
    begin_fact(name);
    put_string(value);
    end_line();
}

void tp_print_number(const char *name, uint64_t value)
{
    begin_fact(name);
    printf("%llu", (unsigned long long)value);
    end_line();
}

void tp_print_bool(const char *name, bool value)
{
    begin_fact(name);
    put_bool(value);
    end_line();
}

struct tp_json tp_json_begin(const char *name, bool array)
{
    begin_fact(name);
    putchar(array ? '[' : '{');
    return (struct tp_json){.array = array};
}

static void begin_member(struct tp_json *j, const char *name)
{
    if (j->more)
        fputs(", ", stdout);
    j->more = true;
    if (name) {
        put_string(name);
        fputs(": ", stdout);
    }
}

void tp_json_string(struct tp_json *j, const char *name, const char *value)
{
    begin_member(j, name);
    put_string(value);
}

void tp_json_number(struct tp_json *j, const char *name, uint64_t value)
{
    begin_member(j, name);
    printf("%llu", (unsigned long long)value);
}

void tp_json_bool(struct tp_json *j, const char *name, bool value)
{
    begin_member(j, name);
    put_bool(value);
}

void tp_json_end(struct tp_json *j)
{
    putchar(j->array ? ']' : '}');
    end_line();
}

void tp_print_done(void)
{
    flockfile(stdout);
    fputs("{\"done\": true", stdout);
    end_line();
}
