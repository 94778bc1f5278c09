package io.dynamo.frontend;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Reaches into Open Liberty's objects where its interfaces lack something. */
final class ContainerInternals {
  private ContainerInternals() {}

  /** Calls a public method without parameters. */
  static Object call(Object of, String method) throws ReflectiveOperationException {
    return of.getClass().getMethod(method).invoke(of);
  }

  /** The public method of {@code of} with this name and so many parameters. */
  static Method method(Object of, String name, int parameters) throws NoSuchMethodException {
    for (Method each : of.getClass().getMethods()) {
      if (each.getName().equals(name) && each.getParameterCount() == parameters) {
        return each;
      }
    }
    throw new NoSuchMethodException(of.getClass().getName() + "." + name);
  }

  static boolean has(Object of, String name, int parameters) {
    try {
      method(of, name, parameters);
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  /** A method of {@code of} without parameters, declared by its class or a superclass. */
  static Method inherited(Object of, String name) throws NoSuchMethodException {
    for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
      for (Method method : type.getDeclaredMethods()) {
        if (method.getName().equals(name) && method.getParameterCount() == 0) {
          method.setAccessible(true);
          return method;
        }
      }
    }
    throw new NoSuchMethodException(of.getClass().getName() + "." + name);
  }

  /** The value of a field of {@code of}, declared by its class or a superclass. */
  static Object field(Object of, String name) throws ReflectiveOperationException {
    for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          field.setAccessible(true);
          var value = field.get(of);
          if (value != null) {
            return value;
          }
        }
      }
    }
    throw new NoSuchFieldException(of.getClass().getName() + "." + name);
  }
}
