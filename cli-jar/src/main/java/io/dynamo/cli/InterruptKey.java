package io.dynamo.cli;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Ctrl-C as the end of what a thread does: while open, it interrupts the thread that opened it,
 * where it otherwise ends the process.
 *
 * <p>The JDK has signals in {@code sun.misc} alone, for which the compiler warns in a way that
 * cannot be switched off; hence the reflection. A JVM without them, or that leaves signals to
 * others ({@code -Xrs}), ends as before.
 */
final class InterruptKey implements AutoCloseable {
  private final Thread thread = Thread.currentThread();
  private final @Nullable Object before; // the handler of the JVM; null when it was not replaced
  private boolean pressed; // guarded by this, as the next
  private boolean isClosed;

  private InterruptKey() {
    var handler = handler();
    before = handler == null ? null : handle(handler);
  }

  static InterruptKey open() {
    return new InterruptKey();
  }

  /** Whether it was pressed since it was opened. */
  synchronized boolean isPressed() {
    return pressed;
  }

  /** Gives Ctrl-C back, and forgets an interruption of this thread by it. */
  @Override
  public void close() {
    if (before != null) {
      handle(before);
    }
    synchronized (this) { // signals are handled by threads of their own, which may come later
      isClosed = true;
      if (pressed) {
        Thread.interrupted();
      }
    }
  }

  /** The handler of the signal; null where this Java has no such handlers. */
  private @Nullable Object handler() {
    try {
      var type = Class.forName("sun.misc.SignalHandler");
      return Proxy.newProxyInstance(
          type.getClassLoader(), new Class<?>[] {type}, (_, method, _) -> press(method));
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  private synchronized @Nullable Object press(Method method) {
    if (method.getName().equals("handle") && !isClosed) {
      pressed = true;
      thread.interrupt();
    }
    return null;
  }

  /** Sets the handler of the signal, and returns the one before; null when it cannot be set. */
  private static @Nullable Object handle(Object handler) {
    try {
      var signal = Class.forName("sun.misc.Signal");
      var type = Class.forName("sun.misc.SignalHandler");
      var interrupt = signal.getConstructor(String.class).newInstance("INT");
      return signal.getMethod("handle", signal, type).invoke(null, interrupt, handler);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
