package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The class loaders, threads and ports of a server process after a full collection. Reads {@code
 * jcmd} and {@code /proc}.
 *
 * @param applicationLoaders class loaders of applications
 * @param threads live platform threads by name, with {@code #} for numbers; without those of the
 *     JVM, of the server's own pools and of HTTP clients' pools, which come and go with the work
 * @param listeningPorts TCP ports, local
 */
record JvmCensus(
    long applicationLoaders, Map<String, Integer> threads, Set<Integer> listeningPorts) {
  private static final Pattern LOADERS =
      Pattern.compile(
          "(?m)^ *\\d+: +(\\d+) +\\d+ +com\\.ibm\\.ws\\.classloading\\.internal\\.AppClassLoader$");
  private static final Pattern SPACES = Pattern.compile(" +");
  private static final Pattern THREAD = Pattern.compile("(?m)^\"([^\"]*)\"");
  private static final Pattern NUMBER = Pattern.compile("\\b(0x)?[0-9a-f]*[0-9][0-9a-f]*\\b");
  private static final Pattern SERVERS_OWN =
      Pattern.compile(
          "Default Executor-thread.*|Scheduled Executor.*|.*CompilerThread.*|G1 .*|GC Thread.*|VM"
              + " .*|Attach"
              + " Listener|ForkJoinPool.*|VirtualThread-unparker.*|.*-unblocker.*|LargeThreadPool.*|Inbound"
              + " .*|pool-#-thread-#|process reaper.*"
              // the thread of its selector counts for a client
              + "|HttpClient-#-Worker-#");

  static JvmCensus of(ProcessHandle java) throws IOException, InterruptedException {
    long pid = java.pid();
    var histogram = jcmd(pid, "GC.class_histogram"); // collects first
    long loaders =
        LOADERS
            .matcher(histogram)
            .results()
            .mapToLong(found -> Long.parseLong(found.group(1)))
            .sum();
    var threads = new TreeMap<String, Integer>();
    THREAD
        .matcher(jcmd(pid, "Thread.print"))
        .results()
        .map(found -> NUMBER.matcher(found.group(1)).replaceAll("#"))
        .filter(name -> !SERVERS_OWN.matcher(name).matches())
        .forEach(name -> threads.merge(name, 1, Integer::sum));
    return new JvmCensus(loaders, threads, listeningPorts(pid));
  }

  /** The threads of which there are more here than there, by how many. */
  Map<String, Integer> moreThreadsThan(JvmCensus there) {
    var more = new TreeMap<String, Integer>();
    threads.forEach(
        (name, count) -> {
          int surplus = count - there.threads.getOrDefault(name, 0);
          if (surplus > 0) {
            more.put(name, surplus);
          }
        });
    return more;
  }

  private static Set<Integer> listeningPorts(long pid) throws IOException {
    var sockets = new TreeSet<String>();
    try (var descriptors = Files.newDirectoryStream(Path.of("/proc/" + pid + "/fd"))) {
      for (var descriptor : descriptors) {
        try {
          var target = Files.readSymbolicLink(descriptor).toString();
          if (target.startsWith("socket:[")) {
            sockets.add(target.substring(8, target.length() - 1));
          }
        } catch (NoSuchFileException _) {
          // closed meanwhile
        }
      }
    }
    var ports = new TreeSet<Integer>();
    for (var table : new String[] {"tcp", "tcp6"}) {
      for (var line : Files.readAllLines(Path.of("/proc/" + pid + "/net/" + table))) {
        var columns = SPACES.splitAsStream(line.strip()).toList();
        if (columns.size() > 9 && columns.get(3).equals("0A") && sockets.contains(columns.get(9))) {
          var local = columns.get(1);
          ports.add(Integer.parseInt(local.substring(local.indexOf(':') + 1), 16));
        }
      }
    }
    return ports;
  }

  static String jcmd(long pid, String command) throws IOException, InterruptedException {
    var output = Files.createTempFile("jcmd", ".txt");
    try {
      var process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin/jcmd").toString(),
                  Long.toString(pid),
                  command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new IOException("jcmd " + command + " failed: " + Files.readString(output));
      }
      return Files.readString(output);
    } finally {
      Files.delete(output);
    }
  }
}
