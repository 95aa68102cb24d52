# shellcheck shell=bash
# A Mesa of a few lines that `turnpike build` builds in seconds, with the real ELF note. Sourced.

# Makes DIR/tiny, and DIR/patches that fit it, for Linux.
tiny_mesa() { # folder
    cp -r "$TP_SRC/tests/factory/recipe/tiny" "$1/tiny"
    echo 25.0.7 >"$1/tiny/VERSION"
    mkdir "$1/tiny/src/freedreno/common" "$1/patches"
    printf 'add_gpus([\n    GPUId(505),\n], GPUInfo(CHIP.A5XX))\n' \
        >"$1/tiny/src/freedreno/common/freedreno_devices.py"
    sed -i s/shared_library/static_library/ "$1/tiny/src/util/meson.build"
    cp -r "$TP_SRC/patches/driver-label" "$1/patches/"
    cat >"$1/patches/10-says.edit" <<'END'
patch     says
title     Say something
why       To be looked for.
upstream  needed 2026-11-30 25.0.7: nothing is said
proof     text has "something to say"

new-file  src/freedreno/vulkan/tu_turnpike.c
  from driver-label/tu_turnpike.c
  template

new-file  src/freedreno/vulkan/tu_turnpike.h
  from driver-label/tu_turnpike.h

edit      src/freedreno/vulkan/meson.build
  form "beside the queue"
    match
      'tu_queue.c'
    before
      'tu_turnpike.c',

edit      src/freedreno/vulkan/tu_queue.c
  form "used by it"
    in function tiny_queue
    match
      return n ^ (n >> 3);
    before
      static const char *volatile says = "something to say";
      n += *says;
END
}
