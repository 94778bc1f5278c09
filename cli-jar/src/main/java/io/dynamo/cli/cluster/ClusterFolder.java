package io.dynamo.cli.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The folder of a cluster on this machine: locked while the cluster runs, made ready for a start.
 * Owned by one thread.
 */
public final class ClusterFolder implements AutoCloseable {
  static final String ETCD_FILE = "etcd.yaml";
  private static final String ETCD_DATA = "data";
  private static final String VARIABLES = "variables";

  private final FileChannel channel;

  private ClusterFolder(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Locks the folder and writes the files that the processes read. Deletes the data of etcd and the
   * logs of an earlier cluster, whose servers are gone.
   *
   * @throws ClusterFailedException when another cluster uses it, a port is taken, or a program is
   *     missing
   */
  public static ClusterFolder prepare(ClusterPlan plan) throws ClusterFailedException {
    try {
      Files.createDirectories(
          plan.data(),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      var folder = new ClusterFolder(lock(plan.data()));
      try {
        requireFreePorts(plan);
        for (var part : plan.stages().stream().flatMap(List::stream).toList()) {
          Files.createDirectories(part.folder());
          Files.deleteIfExists(part.folder().resolve("console.log"));
        }
        deleteTree(plan.etcdFolder().resolve(ETCD_DATA));
        writeEtcdFile(plan);
        writeVariables(plan);
        return folder;
      } catch (IOException | ClusterFailedException e) {
        folder.close();
        throw e;
      }
    } catch (IOException e) {
      throw new ClusterFailedException(
          "the folder %s cannot be used: %s; name another with --data".formatted(plan.data(), e));
    }
  }

  /**
   * Looks for the programs that this product does not bring.
   *
   * @throws ClusterFailedException when one is missing
   */
  public static void requirePrograms() throws ClusterFailedException {
    for (var program : Map.of("etcd", "etcd-server", "nats-server", "nats-server").entrySet()) {
      if (Programs.find(program.getKey()).isEmpty()) {
        throw new ClusterFailedException(
            "%s is not installed; install it (Debian's package %s), or put its folder into PATH"
                .formatted(program.getKey(), program.getValue()));
      }
    }
  }

  private static FileChannel lock(Path data) throws IOException, ClusterFailedException {
    var channel =
        FileChannel.open(data.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    @Nullable FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException _) {
      lock = null;
    }
    if (lock == null) {
      channel.close();
      throw new ClusterFailedException(
          "another cluster runs on %s; stop it, or name another folder with --data"
              .formatted(data));
    }
    return channel;
  }

  private static void requireFreePorts(ClusterPlan plan) throws ClusterFailedException {
    var taken = new ArrayList<String>();
    for (var port : plan.ports().entrySet()) {
      try (var socket = new ServerSocket()) {
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port.getKey()), 1);
      } catch (IOException _) {
        taken.add("%d for %s".formatted(port.getKey(), port.getValue()));
      }
    }
    if (!taken.isEmpty()) {
      throw new ClusterFailedException(
          "ports are in use: %s; stop what listens there, or choose others by these options"
              .formatted(String.join(", ", taken)));
    }
  }

  /** Writes etcd's file: that of the installation with the ports and the folder of this cluster. */
  private static void writeEtcdFile(ClusterPlan plan) throws IOException, ClusterFailedException {
    var members = "http://127.0.0.1:" + (plan.etcdPort() + 1);
    var clients = "http://127.0.0.1:" + plan.etcdPort();
    var values = new LinkedHashMap<String, String>();
    values.put("name", "dynamo");
    values.put("data-dir", quoted(plan.etcdFolder().resolve(ETCD_DATA).toString()));
    values.put("enable-grpc-gateway", "true"); // EtcdGate speaks to it
    values.put("listen-client-urls", clients);
    values.put("advertise-client-urls", clients);
    values.put("listen-peer-urls", members);
    values.put("initial-advertise-peer-urls", members);
    values.put("initial-cluster", "dynamo=" + members);
    var template = plan.installation().resolve("cluster").resolve(ETCD_FILE);
    var lines = new ArrayList<String>();
    var left = new LinkedHashMap<>(values);
    for (var line : readLines(template)) {
      var key = line.replaceFirst(":.*", "");
      var value = left.remove(key);
      lines.add(value == null ? line : key + ": " + value);
    }
    left.forEach((key, value) -> lines.add(key + ": " + value));
    Files.write(plan.etcdFolder().resolve(ETCD_FILE), lines);
  }

  /**
   * Writes the settings that another process needs to join, as lines that a shell reads, readable
   * by this user alone.
   */
  private static void writeVariables(ClusterPlan plan) throws IOException {
    var lines = new ArrayList<String>();
    plan.stores().forEach((name, value) -> lines.add("export %s=%s".formatted(name, value)));
    var file = plan.data().resolve(VARIABLES);
    Files.deleteIfExists(file);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.write(file, lines);
  }

  private static List<String> readLines(Path template) throws ClusterFailedException {
    try {
      return Files.readAllLines(template);
    } catch (IOException e) {
      throw new ClusterFailedException(
          "%s cannot be read: %s; unpack the installation again".formatted(template, e));
    }
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'"; // as YAML has it
  }

  /** Deletes a folder and its content; links are deleted and not followed. */
  private static void deleteTree(Path folder) throws IOException {
    try {
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              Files.delete(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure)
                throws IOException {
              Files.delete(visited);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (NoSuchFileException _) {
      // there was none
    }
  }

  /** Gives the lock back. */
  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException _) {
      // the lock goes with the process
    }
  }
}
