import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.AdmissionSettings;
import io.dynamo.config.TcpSettings;
import io.dynamo.config.TcpTimeouts;
import io.dynamo.config.TlsSettings;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.file.FileDiscovery;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.RequestContext;
import io.dynamo.request.codec.GenerateCodec;
import io.dynamo.request.tcp.TcpEndpointClient;
import io.dynamo.request.tcp.TcpEndpointServer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measures the TCP request plane between two processes, beside a plain Netty stream of the same bytes, and beside a worker of Dynamo's own
 * that our client drives. Run as docs/benchmarks/request-plane.md says: {@code RequestPlane bench SECONDS ROUNDS [PYTHON]}. Each process
 * takes commands on its standard input, so that all of them are warm and one at a time is at work.
 */
public final class RequestPlane {
  private static final int FRAME_BYTES = 162; // a token item of ours on the wire
  private static final int WINDOW = 64; // the default of dynamo.request.tcp.stream-buffer
  private static final int FLUSH_AFTER_WRITES = 64;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "bench" -> bench(Integer.parseInt(args[1]), Integer.parseInt(args[2]), args.length > 3 ? args[3] : null);
      case "worker" -> worker(Path.of(args[1]));
      case "client" -> client(Path.of(args[1]));
      case "netty-worker" -> nettyWorker();
      case "netty-client" -> nettyClient(Integer.parseInt(args[1]));
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  // one process of ours

  static TcpSettings settings() {
    var clear = new TlsSettings(null, null, null, false, null, Duration.ofSeconds(3), null, null, null);
    var timeouts = new TcpTimeouts(PATIENCE, PATIENCE, PATIENCE, PATIENCE, Duration.ZERO, PATIENCE);
    return new TcpSettings(
        "127.0.0.1", 0, 0, 32 << 20, 256 << 20, 65536, 8, WINDOW, PayloadFormat.MSGPACK, timeouts, new AdmissionSettings(10_000, 40_000), clear);
  }

  static FileDiscovery discovery(Path store, long id) {
    return new FileDiscovery(store, Duration.ofSeconds(10), new InstanceId(id), InstantSource.system());
  }

  private static void worker(Path store) throws Exception {
    var endpoint = new EndpointId("dynamo", "ours", "generate");
    var id = new InstanceId(1);
    try (var loops = new EventLoops(0);
        var server = new TcpEndpointServer(settings(), loops, new Metrics());
        var discovery = discovery(store, 1)) {
      var served =
          server.serve(endpoint, id, (GenerateRequest request, RequestContext _) -> tokens(request), new GenerateCodec());
      discovery.register(new Instance(endpoint, id, served.address(), "cpu", PayloadFormat.MSGPACK));
      answer(command -> "");
    }
  }

  /** As many items as were asked for, made on the thread that asks. */
  private static Flow.Publisher<EngineOutput> tokens(GenerateRequest request) {
    int items = request.stop().maxTokens();
    return subscriber ->
        subscriber.onSubscribe(
            new Flow.Subscription() {
              private int made;
              private long wanted;
              private boolean emitting;

              @Override
              public void request(long count) {
                wanted += count;
                if (emitting) {
                  return;
                }
                emitting = true;
                while (wanted > 0 && made < items) {
                  wanted--;
                  subscriber.onNext(EngineOutput.ofTokens(1000 + made++));
                }
                emitting = false;
                if (made == items) {
                  made++;
                  subscriber.onComplete();
                }
              }

              @Override
              public void cancel() {
                made = Integer.MAX_VALUE;
              }
            });
  }

  private static void client(Path store) throws Exception {
    var instances = new ConcurrentHashMap<String, Instance>();
    try (var loops = new EventLoops(0);
        var client = new TcpEndpointClient(settings(), loops, new Metrics());
        var discovery = discovery(store, 2);
        var _ =
            discovery.watch(
                Instance.class,
                event -> {
                  if (event instanceof DiscoveryEvent.Added<Instance>(var instance)) {
                    instances.put(instance.endpoint().component(), instance);
                  }
                })) {
      var codec = new GenerateCodec();
      answer(
          command -> {
            var words = command.split(" "); // run COMPONENT ITEMS STREAMS MILLIS
            var instance = instances.get(words[1]);
            if (instance == null) {
              return "none";
            }
            int items = Integer.parseInt(words[2]);
            return load(
                Integer.parseInt(words[3]),
                Integer.parseInt(words[4]),
                (counter, next) ->
                    client
                        .call(instance, request("tiny", items), codec, context(UUID.randomUUID().toString()))
                        .subscribe(new Counting(counter, next)));
          });
    }
  }

  static RequestContext context(String id) {
    return new RequestContext(id, Map.of(), Map.of(), Deadline.after(PATIENCE), new Cancellation());
  }

  static GenerateRequest request(String model, int items) {
    return new GenerateRequest(
        model,
        new int[] {2, 3016, 203},
        new StopConditions(items, List.of(), List.of(3), null, false),
        SamplingOptions.DEFAULTS,
        OutputOptions.DEFAULTS,
        new int[] {3},
        null,
        List.of(),
        RoutingHints.NONE,
        Map.of());
  }

  private static final class Counting implements Flow.Subscriber<EngineOutput> {
    private final LongAdder counter;
    private final Next next;

    Counting(LongAdder counter, Next next) {
      this.counter = counter;
      this.next = next;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      counter.increment();
    }

    @Override
    public void onError(Throwable cause) {
      next.ended(cause);
    }

    @Override
    public void onComplete() {
      next.ended(null);
    }
  }

  // load

  private interface Next {
    void ended(Throwable cause);
  }

  private interface Call {
    void start(LongAdder items, Next next);
  }

  /** Keeps {@code streams} calls open for a while; gives requests, items, failures and nanoseconds. */
  private static String load(int streams, int millis, Call call) throws InterruptedException {
    var items = new LongAdder();
    var requests = new LongAdder();
    var failures = new AtomicInteger();
    var done = new CountDownLatch(streams);
    long start = System.nanoTime();
    long end = start + millis * 1_000_000L;
    for (int i = 0; i < streams; i++) {
      // a fresh thread for each turn would be ours, not the plane's: the next call starts where the last one ended
      class Turn implements Next {
        private boolean starting;
        private boolean again;

        void go() {
          do {
            again = false;
            starting = true;
            call.start(items, this);
            starting = false;
          } while (again);
        }

        @Override
        public void ended(Throwable cause) {
          if (cause != null && failures.getAndIncrement() == 0) {
            System.err.println(cause);
          }
          requests.increment();
          if (System.nanoTime() >= end) {
            done.countDown();
          } else if (starting && Thread.currentThread() == owner) {
            again = true;
          } else {
            go();
          }
        }

        private final Thread owner = Thread.currentThread();
      }
      new Turn().go();
    }
    if (!done.await(millis + 60_000L, TimeUnit.MILLISECONDS)) {
      return "stuck " + done.getCount();
    }
    return "%d %d %d %d".formatted(requests.sum(), items.sum(), failures.get(), System.nanoTime() - start);
  }

  // the ceiling: the same connections and bytes, Netty alone

  private static void nettyWorker() throws Exception {
    try (var loops = new EventLoops(0)) {
      var listener = loops.listen(new InetSocketAddress("127.0.0.1", 0), pipeline(Requests::new, loops));
      System.out.println(((InetSocketAddress) listener.localAddress()).getPort());
      answer(command -> "");
    }
  }

  private interface Handlers {
    ChannelInboundHandlerAdapter make(EventLoops loops);
  }

  private static ChannelInitializer<Channel> pipeline(Handlers handlers, EventLoops loops) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        channel
            .pipeline()
            .addLast(
                new FlushConsolidationHandler(FLUSH_AFTER_WRITES, true),
                new LengthFieldBasedFrameDecoder(1 << 20, 0, 4),
                handlers.make(loops));
      }
    };
  }

  /** Takes {@code port, subject, items}; acknowledges; answers on the same connection (port 0) or calls home. */
  private static final class Requests extends ChannelInboundHandlerAdapter {
    private final EventLoops loops;

    Requests(EventLoops loops) {
      this.loops = loops;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      var frame = (ByteBuf) message;
      int port = frame.getInt(4);
      int subject = frame.getInt(8);
      int items = frame.getInt(12);
      frame.release();
      if (port == 0) {
        new Pump(ctx.channel(), items).more(WINDOW);
        return;
      }
      ctx.writeAndFlush(ctx.alloc().buffer(4).writeInt(0));
      loops
          .connect(
              loops.next(),
              new InetSocketAddress("127.0.0.1", port),
              PATIENCE,
              pipeline(
                  _ ->
                      new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext home) {
                          home.write(home.alloc().buffer(8).writeInt(4).writeInt(subject));
                          new Pump(home.channel(), items).more(WINDOW);
                        }

                        @Override
                        public void userEventTriggered(ChannelHandlerContext home, Object event) {
                          home.close();
                        }
                      },
                  loops))
          .addListener(connected -> {});
    }
  }

  /** Writes frames, a window ahead of the socket, as ours does. */
  private static final class Pump {
    private final Channel to;
    private final int items;
    private int made;
    private int written;

    Pump(Channel to, int items) {
      this.to = to;
      this.items = items;
    }

    void more(int count) {
      for (int i = 0; i < count && made < items; i++) {
        made++;
        to.writeAndFlush(
                to.alloc().buffer(FRAME_BYTES).writeInt(FRAME_BYTES - 4).writeZero(FRAME_BYTES - 4))
            .addListener(
                _ -> {
                  if (++written > WINDOW / 2) {
                    int again = written;
                    written = 0;
                    more(again);
                  }
                });
      }
    }
  }

  private static void nettyClient(int worker) throws Exception {
    try (var loops = new EventLoops(0)) {
      var waiting = new ConcurrentHashMap<Integer, Answer>();
      var homes = loops.listen(new InetSocketAddress("127.0.0.1", 0), pipeline(_ -> new Home(waiting), loops));
      int home = ((InetSocketAddress) homes.localAddress()).getPort();
      var kept = new ArrayList<Channel>(); // for requests, and for answers on the same connection
      var subjects = new AtomicInteger();
      var pool = new ArrayList<Channel>();
      answer(
          command -> {
            var words = command.split(" "); // run dial|kept ITEMS STREAMS MILLIS
            boolean dial = words[1].equals("dial");
            int items = Integer.parseInt(words[2]);
            int streams = Integer.parseInt(words[3]);
            var from = dial ? pool : kept;
            while (from.size() < (dial ? Math.min(8, streams) : streams)) {
              from.add(
                  loops
                      .connect(
                          loops.next(),
                          new InetSocketAddress("127.0.0.1", worker),
                          PATIENCE,
                          pipeline(_ -> new Home(null), loops))
                      .sync()
                      .channel());
            }
            var turn = new AtomicInteger();
            return load(
                streams,
                Integer.parseInt(words[4]),
                (counter, next) -> {
                  int subject = subjects.incrementAndGet();
                  Channel to;
                  if (dial) {
                    waiting.put(subject, new Answer(items, counter, next));
                    to = from.get(turn.getAndIncrement() % from.size());
                  } else {
                    var mine = OWN.computeIfAbsent(next, _ -> from.get(turn.getAndIncrement() % from.size()));
                    ((Home) mine.pipeline().last()).expect(new Answer(items, counter, next));
                    to = mine;
                  }
                  to.writeAndFlush(
                      to.alloc().buffer(16).writeInt(12).writeInt(dial ? home : 0).writeInt(subject).writeInt(items));
                });
          });
    }
  }

  private static final Map<Next, Channel> OWN = new ConcurrentHashMap<>();

  private record Answer(int items, LongAdder counter, Next next) {}

  private static final class Home extends ChannelInboundHandlerAdapter {
    private final Map<Integer, Answer> waiting;
    private volatile Answer answer;
    private int heard;

    Home(Map<Integer, Answer> waiting) {
      this.waiting = waiting;
    }

    void expect(Answer next) {
      heard = 0;
      answer = next;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      var frame = (ByteBuf) message;
      int length = frame.readableBytes();
      int first = length >= 8 ? frame.getInt(4) : 0;
      frame.release();
      if (length <= 4) {
        return; // an acknowledgement
      }
      if (waiting != null && answer == null) {
        answer = waiting.remove(first);
        return;
      }
      var to = answer;
      to.counter().increment();
      if (++heard == to.items()) {
        if (waiting != null) {
          ctx.close();
        }
        to.next().ended(null);
      }
    }
  }

  // processes

  private interface Commands {
    String run(String command) throws Exception;
  }

  /** Answers {@code mark} with CPU nanoseconds and allocated bytes, all else as told, until the input ends. */
  private static void answer(Commands commands) throws Exception {
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

  static final class Child implements AutoCloseable {
    final Process process;
    private final PrintWriter to;
    private final BufferedReader from;

    Child(List<String> command, Map<String, String> environment) throws IOException {
      var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
      builder.environment().putAll(environment);
      process = builder.start();
      to = process.outputWriter().getClass() == null ? null : new PrintWriter(process.outputWriter(), true);
      from = process.inputReader();
    }

    /** This program again, in a process of its own. */
    static Child java(String... args) throws IOException {
      var command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
      command.addAll(List.of("-Xmx512m", "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
      var more = System.getenv("BENCH_" + args[0].replace('-', '_').toUpperCase(java.util.Locale.ROOT) + "_OPTS");
      if (more != null) {
        command.addAll(List.of(more.split(" ")));
      }
      command.add(System.getProperty("jdk.launcher.sourcefile", "docs/benchmarks/RequestPlane.java"));
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

  private static Child python(String python, Path store) throws IOException {
    return new Child(
        List.of(python, "-c", PYTHON_WORKER),
        Map.of(
            "DYN_DISCOVERY_BACKEND", "file", "DYN_FILE_KV", store.toString(), "DYN_REQUEST_PLANE", "tcp", "DYN_EVENT_PLANE", "zmq",
            "DYN_TCP_RPC_HOST", "127.0.0.1", "DYN_LOG", "error"));
  }

  /** CPU nanoseconds of a process that is not ours. */
  private static long cpu(Process process) throws IOException {
    var stat = Files.readString(Path.of("/proc", "" + process.pid(), "stat"));
    var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 10_000_000;
  }

  // the measurement

  private record Run(double requests, double items, double workerCpu, double clientCpu, double workerBytes, double clientBytes) {}

  private static void bench(int seconds, int rounds, String python) throws Exception {
    var store = Files.createTempDirectory("request-plane");
    try (var worker = Child.java("worker", store.toString());
        var client = Child.java("client", store.toString());
        var nettyWorker = Child.java("netty-worker");
        var peer = python == null ? null : python(python, store)) {
      int port = Integer.parseInt(nettyWorker.line());
      try (var nettyClient = Child.java("netty-client", "" + port)) {
        for (var child : new Child[] {worker, client, nettyWorker, nettyClient, peer}) {
          while (child != null && !child.line().equals("ready")) {} // a JVM may have things to say first
        }
        while (client.ask("run ours 1 1 100").equals("none") || (peer != null && client.ask("run peer 1 1 100").equals("none"))) {
          Thread.sleep(200);
        }
        for (int items : new int[] {128, 1}) {
          for (int streams : new int[] {64, 1, 1024}) {
            if (!System.getProperty("only", items + "x" + streams).equals(items + "x" + streams)) {
              continue;
            }
            List<List<Run>> all = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            for (int round = -1; round < rounds; round++) { // the first one warms up
              var each =
                  new Run[] {
                    run(worker, client, "ours", items, streams, seconds),
                    run(nettyWorker, nettyClient, "dial", items, streams, seconds),
                    run(nettyWorker, nettyClient, "kept", items, streams, seconds),
                    peer == null ? null : run(peer, client, "peer", items, streams, seconds)
                  };
              for (int i = 0; i < each.length && round >= 0; i++) {
                if (each[i] != null) {
                  all.get(i).add(each[i]);
                }
              }
            }
            var names = new String[] {"ours", "netty, called home", "netty, kept", "Dynamo's worker"};
            for (int i = 0; i < names.length; i++) {
              if (!all.get(i).isEmpty()) {
                print(names[i], items, streams, all.get(i), all.get(1));
              }
            }
          }
        }
      }
    }
  }

  private static Run run(Child worker, Child client, String what, int items, int streams, int seconds) throws IOException {
    boolean foreign = what.equals("peer");
    long[] workerBefore = foreign ? new long[] {cpu(worker.process), 0} : worker.mark();
    long[] clientBefore = client.mark();
    var result = client.ask("run " + what + " " + items + " " + streams + " " + seconds * 1000);
    long[] clientAfter = client.mark();
    long[] workerAfter = foreign ? new long[] {cpu(worker.process), 0} : worker.mark();
    var words = Arrays.stream(result.split(" ")).mapToDouble(word -> word.equals("stuck") ? -1 : Double.parseDouble(word)).toArray();
    if (words.length != 4 || words[2] > 0 || words[0] * items != words[1]) {
      System.err.println(what + ": " + result + ": some requests failed");
    }
    double count = words[1];
    return new Run(
        words[0] / words[3] * 1e9,
        count / words[3] * 1e9,
        (workerAfter[0] - workerBefore[0]) / 1e3 / count,
        (clientAfter[0] - clientBefore[0]) / 1e3 / count,
        (workerAfter[1] - workerBefore[1]) / count,
        (clientAfter[1] - clientBefore[1]) / count);
  }

  private static void print(String name, int items, int streams, List<Run> runs, List<Run> ceiling) {
    System.out.printf(
        "| %s | %d | %d | %,.0f | %,.0f | %.0f %% | %.2f / %.2f | %.0f / %.0f |%n",
        name,
        items,
        streams,
        median(runs, Run::requests),
        median(runs, Run::items),
        100 * median(runs, Run::items) / median(ceiling, Run::items),
        median(runs, Run::workerCpu),
        median(runs, Run::clientCpu),
        median(runs, Run::workerBytes),
        median(runs, Run::clientBytes));
  }

  private static double median(List<Run> runs, java.util.function.ToDoubleFunction<Run> of) {
    var sorted = runs.stream().mapToDouble(of).sorted().toArray();
    return sorted[sorted.length / 2];
  }
}
