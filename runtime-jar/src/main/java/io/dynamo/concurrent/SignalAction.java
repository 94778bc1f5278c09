package io.dynamo.concurrent;

import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * An action of the process on a signal of the operating system, in place of the JVM's own, until it
 * is closed.
 *
 * <p>The JDK has signals in {@code sun.misc} alone, for which the compiler warns in a way that
 * cannot be switched off; hence the reflection.
 */
public final class SignalAction implements AutoCloseable {
  private final String signal;
  private final Object before; // the handler that the action replaced

  private SignalAction(String signal, Object before) {
    this.signal = signal;
    this.before = before;
  }

  /**
   * Runs {@code action} each time the process gets a signal, each time on another new thread of the
   * JVM's. Does nothing for a signal that the process ignores.
   *
   * @param signal its name without SIG, {@code TERM} for example
   * @return null where signals are not the JVM's to handle ({@code -Xrs}), or this Java has no such
   *     handlers
   */
  public static @Nullable SignalAction on(String signal, Runnable action) {
    try {
      var before = handle(signal, handler(action));
      return before == null ? null : new SignalAction(signal, before);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  private static Object handler(Runnable action) throws ReflectiveOperationException {
    var run =
        MethodHandles.lookup()
            .findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
            .bindTo(action);
    return MethodHandleProxies.asInterfaceInstance(
        jdkClass("sun.misc.SignalHandler"),
        MethodHandles.dropArguments(run, 0, jdkClass("sun.misc.Signal")));
  }

  /** Sets the handler of a signal, and returns the one before. */
  private static @Nullable Object handle(String name, Object handler)
      throws ReflectiveOperationException {
    var type = jdkClass("sun.misc.Signal");
    var signal = type.getConstructor(String.class).newInstance(name);
    return type.getMethod("handle", type, jdkClass("sun.misc.SignalHandler"))
        .invoke(null, signal, handler);
  }

  /** Asks the JVM's own loader: the one of an application need not see such packages. */
  private static Class<?> jdkClass(String name) throws ClassNotFoundException {
    return Class.forName(name, false, ClassLoader.getSystemClassLoader());
  }

  /** Gives the signal back to the handler that the action replaced. Actions that run go on. */
  @Override
  public void close() {
    try {
      handle(signal, before);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the handler of SIG" + signal + " cannot be set again", e);
    }
  }
}
