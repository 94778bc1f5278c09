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
  private final @Nullable String user;
  private final @Nullable String password;
  private @Nullable Driver driver; // guarded by this; loaded by the first connection

  PostgresDatabase(String url, @Nullable String user, @Nullable String password) {
    this.url = url;
    this.user = user;
    this.password = password;
  }

  private synchronized Driver driver() {
    var loaded = driver;
    if (loaded == null) {
      loaded = new Driver();
      driver = loaded;
    }
    return loaded;
  }

  private Properties properties() {
    var properties = new Properties();
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
    return properties;
  }

  @Override
  public Connection open() throws SQLException {
    var connection = driver().connect(url, properties());
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
  public boolean mayHoldRows() {
    return true;
  }

  @Override
  public synchronized void close() {
    try {
      if (driver != null && Driver.isRegistered()) {
        Driver.deregister(); // else the list of drivers would hold this application's class loader
      }
    } catch (SQLException e) {
      throw new IllegalStateException("PostgreSQL's driver stays registered", e);
    }
  }
}
