package io.dynamo.request.load;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process that takes commands on its standard input and answers each with a line. */
final class Child implements AutoCloseable {
  final Process process;
  private final PrintWriter to;
  private final BufferedReader from;

  Child(List<String> command, Map<String, String> environment) throws IOException {
    var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    process = builder.start();
    to = new PrintWriter(process.outputWriter(), true);
    from = process.inputReader();
  }

  /** This program again, in a process of its own. */
  static Child java(String... args) throws IOException {
    var command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
    command.addAll(
        List.of(
            "-Xmx512m",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path")));
    var more =
        System.getenv(
            "BENCH_" + args[0].replace('-', '_').toUpperCase(java.util.Locale.ROOT) + "_OPTS");
    if (more != null) {
      command.addAll(List.of(more.split(" ")));
    }
    command.add(
        System.getProperty(
            "jdk.launcher.sourcefile",
            "runtime-jar/src/bench/java/io/dynamo/request/load/RequestPlane.java"));
    command.addAll(List.of(args));
    return new Child(command, Map.of());
  }

  String line() throws IOException {
    var line = from.readLine();
    if (line == null) {
      throw new IOException("a process ended early");
    }
    return line;
  }

  String ask(String command) throws IOException {
    to.println(command);
    return line();
  }

  long[] mark() throws IOException {
    return Arrays.stream(ask("mark").split(" ")).mapToLong(Long::parseLong).toArray();
  }

  @Override
  public void close() {
    to.close();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
    }
  }

  interface Commands {
    String run(String command) throws Exception;
  }

  /**
   * Answers {@code mark} with CPU nanoseconds and allocated bytes, all else as configured, until
   * the input ends.
   */
  static void answer(Commands commands) throws Exception {
    var cpu = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    var memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    System.out.println("ready");
    var in = new BufferedReader(new InputStreamReader(System.in));
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(
          line.equals("mark")
              ? cpu.getProcessCpuTime() + " " + memory.getTotalThreadAllocatedBytes()
              : commands.run(line));
    }
  }

  private static final String PYTHON_WORKER =
      """
      import asyncio, sys, threading
      from dynamo.runtime import DistributedRuntime

      async def generate(request, context):
          for i in range(request["stop_conditions"]["max_tokens"]):
              yield {"token_ids": [1000 + i], "tokens": None, "text": None, "output_type": "text", "cum_log_probs": None,
                     "log_probs": None, "top_logprobs": None, "finish_reason": None, "index": None}

      async def main():
          runtime = DistributedRuntime(asyncio.get_running_loop(), "file", "tcp")
          def until_told():
              sys.stdin.read()
              import os
              os._exit(0)
          threading.Thread(target=until_told, daemon=True).start()
          print("ready", flush=True)
          await runtime.endpoint("dynamo.peer.generate").serve_endpoint(generate)

      asyncio.run(main())
      """;

  static Child python(String python, Path store) throws IOException {
    return new Child(
        List.of(python, "-c", PYTHON_WORKER),
        Map.of(
            "DYN_DISCOVERY_BACKEND",
            "file",
            "DYN_FILE_KV",
            store.toString(),
            "DYN_REQUEST_PLANE",
            "tcp",
            "DYN_EVENT_PLANE",
            "zmq",
            "DYN_TCP_RPC_HOST",
            "127.0.0.1",
            "DYN_LOG",
            "error"));
  }

  /** CPU nanoseconds of a process that is not ours. */
  static long cpu(Process process) throws IOException {
    var stat = Files.readString(Path.of("/proc", "" + process.pid(), "stat"));
    var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 10_000_000;
  }
}
