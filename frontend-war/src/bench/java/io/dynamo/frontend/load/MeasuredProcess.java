package io.dynamo.frontend.load;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** A process whose use of the machine is measured. One thread. */
final class MeasuredProcess implements AutoCloseable {
  private static final double TICKS_PER_SECOND = 100; // USER_HZ on Linux

  private final long pid;
  private final JMXConnector connector; // null where it is no JVM of ours, as is the next
  private final MBeanServerConnection beans;
  private double cpuSeconds;
  private long allocated;

  MeasuredProcess(long pid) throws IOException {
    this.pid = pid;
    this.connector = attach(pid);
    this.beans = connector == null ? null : connector.getMBeanServerConnection();
  }

  private static JMXConnector attach(long pid) {
    try {
      var machine = VirtualMachine.attach(Long.toString(pid));
      try {
        return JMXConnectorFactory.connect(new JMXServiceURL(machine.startLocalManagementAgent()));
      } finally {
        machine.detach();
      }
    } catch (Exception notJava) {
      return null;
    }
  }

  void start() throws Exception {
    cpuSeconds = cpuSeconds();
    allocated = allocated();
  }

  /** Microseconds of CPU time since the start. */
  double cpuMicros() throws IOException {
    return (cpuSeconds() - cpuSeconds) * 1e6;
  }

  /** Bytes of the heap that were allocated since the start; 0 for what is no JVM of ours. */
  long allocatedBytes() throws Exception {
    return beans == null ? 0 : allocated() - allocated;
  }

  /** Returns the process's use since the start, per request and per token. */
  String used(int requests, long tokens) throws Exception {
    double micros = cpuMicros();
    var text =
        "process %d: %.0f us CPU per request, %.2f per token, %d MB RSS"
            .formatted(pid, micros / requests, micros / tokens, residentMegabytes());
    if (beans == null) {
      return text;
    }
    long bytes = allocatedBytes();
    return text
        + ", %.0f bytes allocated per request, %.0f per token"
            .formatted((double) bytes / requests, (double) bytes / tokens);
  }

  private double cpuSeconds() throws IOException {
    var stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
    var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
  }

  long residentMegabytes() throws IOException {
    try (var lines = Files.lines(Path.of("/proc", Long.toString(pid), "status"))) {
      return lines
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
          .sum();
    }
  }

  private long allocated() throws Exception {
    return beans == null
        ? 0
        : (Long)
            beans.getAttribute(
                new ObjectName("java.lang:type=Threading"), "TotalThreadAllocatedBytes");
  }

  @Override
  public void close() throws IOException {
    if (connector != null) {
      connector.close();
    }
  }
}
