package io.dynamo.frontend.responses;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGProperty;

/** A PostgreSQL server, which several frontends may share. Safe for concurrent use. */
final class PostgresDatabase implements Database {
  private static final String CONNECT_SECONDS = "3";
  private static final String REPLY_SECONDS = "10";

  private final String url;
  private final Properties properties = new Properties();
  private final Driver driver = new Driver();

  PostgresDatabase(String url, @Nullable String user, @Nullable String password) {
    this.url = url;
    if (user != null) {
      PGProperty.USER.set(properties, user);
    }
    if (password != null) {
      PGProperty.PASSWORD.set(properties, password);
    }
    PGProperty.CONNECT_TIMEOUT.set(properties, CONNECT_SECONDS);
    PGProperty.LOGIN_TIMEOUT.set(properties, CONNECT_SECONDS);
    PGProperty.SOCKET_TIMEOUT.set(properties, REPLY_SECONDS);
    PGProperty.TCP_KEEP_ALIVE.set(properties, true);
    PGProperty.APPLICATION_NAME.set(properties, "dynamo");
    PGProperty.LOG_SERVER_ERROR_DETAIL.set(properties, false); // it would repeat values
  }

  @Override
  public Connection open() throws SQLException {
    var connection = driver.connect(url, properties);
    if (connection == null) {
      throw new SQLException("PostgreSQL's driver does not take the URL " + url);
    }
    return connection;
  }

  @Override
  public String bytesType() {
    return "BYTEA";
  }

  @Override
  public String place() {
    return url;
  }

  @Override
  public boolean opensAtStart() {
    return true;
  }

  @Override
  public void close() {
    try {
      if (Driver.isRegistered()) {
        Driver.deregister(); // else the list of drivers would hold this application's class loader
      }
    } catch (SQLException e) {
      throw new IllegalStateException("PostgreSQL's driver stays registered", e);
    }
  }
}
