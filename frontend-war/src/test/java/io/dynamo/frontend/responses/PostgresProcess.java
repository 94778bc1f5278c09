package io.dynamo.frontend.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.postgresql.Driver;

/**
 * A real PostgreSQL server on loopback, with a database and a user. Its tests are left out where it
 * is not installed, unless {@code -Ddynamo.it.postgresql=required}. Owned by one test thread.
 */
public final class PostgresProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String USER = "dynamo";

  private final Path binaries;
  private final Path folder;
  private final Path log;
  private int port;
  private Process process;

  private PostgresProcess(Path binaries) throws IOException {
    this.binaries = binaries;
    this.folder = Path.of(run(List.of("mktemp", "-d")).strip());
    this.log = Files.createTempFile("postgres", ".log");
    try {
      this.port = freePort();
      run(
          List.of(
              binaries.resolve("initdb").toString(),
              "--pgdata=" + folder,
              "--auth=trust",
              "--username=" + USER,
              "--encoding=UTF8",
              "--no-sync"));
      this.process = launch(true);
    } catch (IOException | RuntimeException | AssertionError e) {
      removeFiles();
      throw e;
    }
  }

  public static PostgresProcess start() {
    var found = installed();
    if (!"required".equals(System.getProperty("dynamo.it.postgresql"))) {
      assumeTrue(found.size() > 0, "left out: PostgreSQL is not installed (Debian's postgresql)");
    }
    assertThat(found).as("folders with PostgreSQL's server").isNotEmpty();
    try {
      return new PostgresProcess(found.getLast());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A port that is free and below those that the system gives to connections. */
  private static int freePort() throws IOException {
    for (int tries = 0; tries < 100; tries++) {
      int port = ThreadLocalRandom.current().nextInt(18_000, 32_000);
      try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return port;
      } catch (BindException _) {
        // taken; another may be free
      }
    }
    throw new IOException("no free port");
  }

  private static List<Path> installed() {
    var roots = Path.of("/usr/lib/postgresql");
    if (!Files.isDirectory(roots)) {
      return List.of();
    }
    try (Stream<Path> versions = Files.list(roots)) {
      return versions
          .map(version -> version.resolve("bin"))
          .filter(bin -> Files.isExecutable(bin.resolve("postgres")))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The server refuses to run as root; the package has a user for it. */
  private static List<String> unprivileged(List<String> command) {
    if (!System.getProperty("user.name").equals("root")) {
      return command;
    }
    var whole =
        new ArrayList<>(
            List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"));
    whole.addAll(command);
    return whole;
  }

  private static String run(List<String> command) throws IOException {
    var said = Files.createTempFile("postgres", ".out");
    try {
      var process =
          new ProcessBuilder(unprivileged(command))
              .directory(Path.of("/tmp").toFile())
              .redirectErrorStream(true)
              .redirectOutput(said.toFile())
              .start();
      int status = awaitEnd(process, command);
      var output = Files.readString(said, StandardCharsets.ISO_8859_1);
      assertThat(status).as("%s: %s", command, output).isZero();
      return output;
    } finally {
      Files.delete(said);
    }
  }

  /** Its exit status; one that does not end in time is killed, and the test fails. */
  private static int awaitEnd(Process process, List<String> command) {
    try {
      return process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join().exitValue();
    } catch (CompletionException e) {
      process.destroyForcibly();
      throw new AssertionError(command + " does not end within " + PATIENCE, e);
    }
  }

  /**
   * Starts the server until it accepts connections. It ends at once where its port is taken, and
   * while children of a killed one still hold its memory.
   */
  private Process launch(boolean mayMove) throws IOException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      var started = begin();
      boolean ready = false;
      try {
        while (!ready && started.isAlive() && System.nanoTime() - end < 0) {
          ready = hasSaid("ready to accept connections") && accepts();
          if (!ready) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
          }
        }
      } finally {
        if (!ready) {
          end(started);
        }
      }
      if (ready) {
        return started;
      }
      LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
      assertThat(System.nanoTime() - end)
          .as("PostgreSQL starts: %s", Files.readString(log, StandardCharsets.ISO_8859_1))
          .isNegative();
      if (mayMove && hasSaid("could not create any TCP/IP sockets")) {
        port = freePort();
      }
    }
  }

  /** Whether it wrote {@code words} since it was started: its port may be that of another. */
  private boolean hasSaid(String words) throws IOException {
    return Files.readString(log, StandardCharsets.ISO_8859_1).contains(words);
  }

  private Process begin() throws IOException {
    return new ProcessBuilder(
            unprivileged(
                List.of(
                    binaries.resolve("postgres").toString(),
                    "-D",
                    folder.toString(),
                    "-p",
                    Integer.toString(port),
                    "-c",
                    "listen_addresses=127.0.0.1",
                    "-c",
                    "unix_socket_directories=",
                    "-c",
                    "lc_messages=C",
                    "-c",
                    "fsync=off")))
        .directory(Path.of("/tmp").toFile())
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  /** It listens before it has repaired what a kill left behind, and refuses to work until then. */
  private boolean accepts() {
    var properties = new Properties();
    properties.setProperty("user", USER);
    properties.setProperty("loginTimeout", "2");
    properties.setProperty("socketTimeout", "2");
    try (var connection = new Driver().connect(url(), properties)) { // stores unload the driver
      return connection != null && connection.isValid(2);
    } catch (SQLException e) {
      return false;
    }
  }

  public String url() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
  }

  public String user() {
    return USER;
  }

  /** {@code kill -9}; returns when the process is gone, and its children have noticed and ended. */
  public void kill() {
    end(process);
  }

  private static void end(Process process) {
    var gone = new ArrayList<CompletableFuture<?>>();
    process.descendants().forEach(child -> gone.add(child.onExit()));
    gone.add(process.onExit());
    process.destroyForcibly();
    CompletableFuture.allOf(gone.toArray(CompletableFuture[]::new))
        .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
        .join();
  }

  /** Starts the killed server again on its port. */
  public void restart() {
    try {
      process = launch(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    kill();
    try {
      removeFiles();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void removeFiles() throws IOException {
    run(List.of("rm", "-rf", folder.toString()));
    Files.deleteIfExists(log);
  }
}
