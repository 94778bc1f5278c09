package io.dynamo.frontend.responses;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A real database whose statements are recorded and may be made to fail. For any thread. */
final class FaultyDatabase implements Database {
  /** Decides what fails. */
  interface Fault {
    /**
     * Called before a statement.
     *
     * @param key the first text parameter; null for none
     */
    void check(String sql, @Nullable String key) throws SQLException;
  }

  private final Database real;
  final List<String> statements = new CopyOnWriteArrayList<>();
  volatile Fault fault = (_, _) -> {};
  volatile Runnable opening = () -> {};
  volatile Runnable foundEmpty = () -> {};

  FaultyDatabase(Database real) {
    this.real = real;
  }

  long count(String part) {
    return statements.stream().filter(it -> it.contains(part)).count();
  }

  @Override
  public Connection open() throws SQLException {
    opening.run();
    var connection = real.open();
    return wrap(
        Connection.class,
        connection,
        (method, args, result) ->
            switch (method.getName()) {
              case "prepareStatement" ->
                  watched(
                      PreparedStatement.class, result, (String) Objects.requireNonNull(args)[0]);
              case "createStatement" -> watched(Statement.class, result, null);
              default -> result;
            });
  }

  private <T> T watched(Class<T> type, @Nullable Object statement, @Nullable String prepared) {
    var key = new String[1];
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, args) -> {
              if (method.getName().equals("setString") && Integer.valueOf(1).equals(args[0])) {
                key[0] = (String) args[1];
              } else if (method.getName().startsWith("execute")) {
                var sql = prepared == null ? (String) args[0] : prepared;
                statements.add(sql);
                fault.check(sql, key[0]);
              }
              return invoke(Objects.requireNonNull(statement), method, args);
            }));
  }

  private interface After {
    @Nullable Object result(Method method, Object @Nullable [] args, @Nullable Object result);
  }

  private static <T> T wrap(Class<T> type, T real, After after) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, args) ->
                after.result(method, args, invoke(Objects.requireNonNull(real), method, args))));
  }

  private static @Nullable Object invoke(Object on, Method method, Object @Nullable [] args)
      throws Throwable {
    try {
      return method.invoke(on, args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Override
  public String bytesType() {
    return real.bytesType();
  }

  @Override
  public String place() {
    return real.place();
  }

  @Override
  public boolean mayHoldRows() {
    boolean holds = real.mayHoldRows();
    if (!holds) {
      foundEmpty.run();
    }
    return holds;
  }

  @Override
  public void close() {
    real.close();
  }
}
