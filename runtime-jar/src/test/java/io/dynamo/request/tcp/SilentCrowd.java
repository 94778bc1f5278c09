package io.dynamo.request.tcp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.URISyntaxException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Connections that say nothing, held by a process of their own so that their descriptors are not
 * those of the test. It ends with its input. Uses the JDK alone.
 */
final class SilentCrowd implements AutoCloseable {
  private static final String READY = "ready";

  private final Process process;

  private SilentCrowd(Process process) {
    this.process = process;
  }

  /** Opens {@code count} connections to {@code address}; returns once they are made. */
  static SilentCrowd of(InetSocketAddress address, int count) throws IOException {
    Path classes;
    try {
      classes =
          Path.of(SilentCrowd.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
    var crowd =
        new SilentCrowd(
            new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xshare:auto",
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx128m",
                    "-cp",
                    classes.toString(),
                    SilentCrowd.class.getName(),
                    address.getAddress().getHostAddress(),
                    String.valueOf(address.getPort()),
                    String.valueOf(count))
                .redirectErrorStream(true)
                .start());
    var said = new BufferedReader(crowd.process.inputReader(StandardCharsets.UTF_8)).readLine();
    if (!READY.equals(said)) {
      crowd.close();
      throw new IOException("the crowd is not there: " + said);
    }
    return crowd;
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try (var _ = process.getInputStream();
        var _ = process.getErrorStream()) {
      if (!process.waitFor(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The process.
   *
   * @param args host, port, connections
   */
  public static void main(String... args) throws IOException {
    var address = new InetSocketAddress(args[0], Integer.parseInt(args[1]));
    List<SocketChannel> open = new ArrayList<>();
    for (int i = Integer.parseInt(args[2]); i > 0; i--) {
      open.add(SocketChannel.open(address));
    }
    System.out.println(READY);
    try (var input = new InputStreamReader(System.in, StandardCharsets.UTF_8)) {
      while (input.read() >= 0) {
        // until the test has ended
      }
    }
    for (var one : open) {
      one.close();
    }
  }
}
