/* Prints the fault schedule of a seed. */
#include "factory/kgsl/faults.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char text[128];
    if (argc != 2)
        return 2;
    tp_kgsl_faults_random(strtoull(argv[1], NULL, 10), text, sizeof text);
    puts(text);
    return 0;
}
