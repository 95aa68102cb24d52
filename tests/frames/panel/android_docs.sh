#!/bin/sh
# The examples of docs/embedding.md compile. Arguments: the source's folder, a C compiler.
set -eu
src=$1 cc=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$src/docs/embedding.md" >"$out/example.c"
grep -q turnpike_server_create "$out/example.c"
"$cc" -std=c11 -Wall -Wextra -Werror -I"$src/include" -c -o "$out/example.o" "$out/example.c"
if ! command -v javac >/dev/null; then
    echo "no javac: the Java example was not compiled"
    exit 0
fi
# Of Android's classes, as much as the example needs.
class() {
    mkdir -p "$out/$(dirname "$1")"
    cat >"$out/$1.java"
}
class android/view/Surface <<'J'
package android.view;
public class Surface {}
J
class android/view/SurfaceHolder <<'J'
package android.view;
public interface SurfaceHolder {
    interface Callback {
        void surfaceCreated(SurfaceHolder h);
        void surfaceChanged(SurfaceHolder h, int format, int width, int height);
        void surfaceDestroyed(SurfaceHolder h);
    }
    void addCallback(Callback c);
    Surface getSurface();
}
J
class android/view/View <<'J'
package android.view;
public class View {}
J
class android/view/SurfaceView <<'J'
package android.view;
public class SurfaceView extends View {
    public SurfaceView(Object context) {}
    public SurfaceHolder getHolder() { return null; }
}
J
class android/os/Bundle <<'J'
package android.os;
public class Bundle {}
J
class android/app/Activity <<'J'
package android.app;
public class Activity {
    protected void onCreate(android.os.Bundle b) {}
    protected void onPause() {}
    protected void onResume() {}
    protected void onDestroy() {}
    public java.io.File getFilesDir() { return null; }
    public void setContentView(android.view.View v) {}
}
J
mkdir -p "$out/org/turnpike" "$out/org/example"
awk -v out="$out" '/^```java$/ { f = out "/" (n++ ? "org/example/GameActivity" : "org/turnpike/DisplayServer") ".java"; on = 1; next }
    /^```$/ { on = 0 } on { print > f }' "$src/docs/embedding.md"
find "$out" -name '*.java' -exec javac -Werror -d "$out/classes" {} +
# Every native method is in the library's source.
for m in $(sed -n 's/.*static native [a-z]* \([a-zA-Z]*\)(.*/\1/p; s/.*static native long \(create\)($/\1/p' "$out/org/turnpike/DisplayServer.java"); do
    grep -qE "METHOD\([a-z]*, $m\)|CALL\($m," "$src/src/frames/server/jni.c" || { echo "jni.c has no $m"; exit 1; }
done
