package io.dynamo.request.load;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.file.FileDiscovery;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.request.tcp.TcpEndpointClient;
import io.dynamo.request.tcp.TcpEndpointServer;
import io.dynamo.wire.generate.GenerateCodec;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Many logical workers in a few processes, requests to live ones at random, and discovery that
 * changes meanwhile: {@code ManyWorkers bench PROCESSES WORKERS REQUESTS CONCURRENCY}. Counts the
 * answers by request id; each must come once and whole. A request that meets an instance on its way
 * out is sent to another one, as the frontend's migration does, and counted as moved.
 */
public final class ManyWorkers {
  private static final EndpointId ENDPOINT = new EndpointId("dynamo", "many", "generate");
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int TOKENS = 8;
  private static final int CHURN_PER_SECOND = 10; // of all processes together

  public static void main(String[] args) throws Exception {
    if (args[0].equals("worker")) {
      worker(
          Path.of(args[1]),
          Integer.parseInt(args[2]),
          Integer.parseInt(args[3]),
          Integer.parseInt(args[4]));
    } else {
      bench(
          Integer.parseInt(args[1]),
          Integer.parseInt(args[2]),
          Integer.parseInt(args[3]),
          Integer.parseInt(args[4]));
    }
  }

  private static FileDiscovery discovery(Path store, long id) {
    return new FileDiscovery(
        store, Duration.ofSeconds(30), new InstanceId(id), InstantSource.system());
  }

  /**
   * Serves instances first … first + count - 1 and takes {@code churn} of them away and back each
   * second.
   */
  private static void worker(Path store, int first, int count, int churn) throws Exception {
    try (var loops = new EventLoops(2);
        var server = new TcpEndpointServer(OurPlane.settings(), loops, new Metrics());
        var discovery = discovery(store, first)) {
      var workers = new ArrayList<Worker>();
      for (int i = first; i < first + count; i++) {
        var worker = new Worker(server, discovery, i);
        worker.come();
        workers.add(worker);
      }
      System.out.println("ready");
      try (var clock = Executors.newSingleThreadScheduledExecutor()) {
        var gone = new LinkedHashSet<Worker>();
        var closing = new AtomicInteger();
        clock.scheduleAtFixedRate(
            () -> {
              try {
                gone.forEach(Worker::come);
                gone.clear();
                for (int i = 0; i < churn; i++) {
                  var worker = workers.get(ThreadLocalRandom.current().nextInt(count));
                  if (gone.add(worker)) {
                    worker.go(closing.getAndIncrement() % 2 == 0);
                  }
                }
              } catch (RuntimeException | InterruptedException e) {
                System.err.println(e);
              }
            },
            1,
            1,
            TimeUnit.SECONDS);
        Child.answer(command -> memory());
        clock.shutdownNow();
      }
    }
  }

  /** Megabytes of the heap after a collection, and of the buffers of sockets. */
  private static String memory() {
    System.gc();
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    long direct =
        ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT).metric().usedDirectMemory();
    return "heap %d MB, direct %d MB".formatted(heap >> 20, direct >> 20);
  }

  /** One logical worker, touched by one thread. */
  private static final class Worker {
    private final TcpEndpointServer server;
    private final FileDiscovery discovery;
    private final int number;
    private EndpointServer.Served served;
    private FileDiscovery.Handle handle;

    Worker(TcpEndpointServer server, FileDiscovery discovery, int number) {
      this.server = server;
      this.discovery = discovery;
      this.number = number;
    }

    void come() {
      var id = new InstanceId(number);
      if (served == null) {
        served =
            server.serve(
                ENDPOINT,
                id,
                (GenerateRequest request, RequestContext _) -> new Answer(number),
                new GenerateCodec());
      }
      handle =
          discovery.register(
              new Instance(ENDPOINT, id, served.address(), "cpu", PayloadFormat.MSGPACK));
    }

    /**
     * Leaves discovery; with its endpoint as a worker that ends does: what runs there ends first.
     */
    void go(boolean withEndpoint) throws InterruptedException {
      handle.close();
      if (withEndpoint) {
        if (!served.drain(Deadline.after(PATIENCE))) {
          System.err.println("a drain took longer than " + PATIENCE);
        }
        served.close();
        served = null;
      }
    }
  }

  /** TOKENS items, the first of which names the worker. */
  private record Answer(int worker) implements Flow.Publisher<EngineOutput> {
    @Override
    public void subscribe(Flow.Subscriber<? super EngineOutput> subscriber) {
      subscriber.onSubscribe(
          new Flow.Subscription() {
            private boolean done;

            @Override
            public void request(long count) { // the window is larger than the answer
              if (done) {
                return;
              }
              done = true;
              for (int i = 0; i < TOKENS - 1; i++) {
                subscriber.onNext(EngineOutput.ofTokens(i == 0 ? worker : 1000 + i));
              }
              subscriber.onNext(EngineOutput.finish(FinishReason.LENGTH, null, 2000));
              subscriber.onComplete();
            }

            @Override
            public void cancel() {
              done = true;
            }
          });
    }
  }

  private static void bench(int processes, int workers, int requests, int concurrency)
      throws Exception {
    var store = Files.createTempDirectory("many-workers");
    var children = new ArrayList<Child>();
    try {
      for (int p = 0; p < processes; p++) {
        int each = workers / processes;
        children.add(
            new Child(
                List.of(
                    ProcessHandle.current().info().command().orElseThrow(),
                    "-Xmx256m",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    "runtime-jar/src/bench/java/io/dynamo/request/load/ManyWorkers.java",
                    "worker",
                    store.toString(),
                    "" + (1 + p * each),
                    "" + each,
                    "" + (CHURN_PER_SECOND / 2 + p) / processes), // as many come as go
                Map.of()));
      }
      for (var child : children) {
        while (!child
            .line()
            .equals("ready")) {} // the first is the workers', the second the commands'
        child.line();
        System.out.println("worker process before: " + child.ask("memory"));
      }
      drive(store, workers, requests, concurrency);
      for (var child : children) {
        System.out.printf(
            "worker process after: %s, %d MB RSS%n",
            child.ask("memory"), rssMegabytes(child.process.pid()));
      }
      System.out.printf(
          "client after: %s, %d MB RSS%n", memory(), rssMegabytes(ProcessHandle.current().pid()));
    } finally {
      children.forEach(Child::close);
    }
  }

  private static void drive(Path store, int workers, int requests, int concurrency)
      throws Exception {
    var live = new ConcurrentHashMap<String, Instance>();
    var changes = new AtomicInteger();
    try (var loops = new EventLoops(2);
        var client = new TcpEndpointClient(OurPlane.settings(), loops, new Metrics());
        var discovery = discovery(store, 1_000_000);
        var _ =
            discovery.watch(
                Instance.class,
                event -> {
                  changes.incrementAndGet();
                  switch (event) {
                    case DiscoveryEvent.Added<Instance>(var instance) -> {
                      live.put(instance.key(), instance);
                      client.instanceFound(instance);
                    }
                    case DiscoveryEvent.Lost<Instance>(var instance) -> {
                      live.remove(instance.key());
                      client.instanceLost(instance);
                    }
                  }
                })) {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (live.size() < workers * 99 / 100) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException(
              "only %d of %d workers are seen".formatted(live.size(), workers));
        }
        Thread.sleep(50);
      }
      System.out.printf("%d of %d workers seen%n", live.size(), workers);
      changes.set(0);
      var run = new Run(client, live, requests, concurrency);
      run.all();
      System.out.printf("discovery changes meanwhile: %d%n", changes.get());
    }
  }

  private static final class Run {
    final TcpEndpointClient client;
    final Map<String, Instance> live;
    final int requests;
    final Semaphore room;
    final ConcurrentHashMap<String, AtomicInteger> answers = new ConcurrentHashMap<>();
    final ConcurrentHashMap<Integer, Boolean> used = new ConcurrentHashMap<>();
    final AtomicInteger moved = new AtomicInteger();
    final AtomicInteger failed = new AtomicInteger();
    final AtomicInteger wrong = new AtomicInteger();
    final CountDownLatch left;
    final long[] nanos;

    Run(TcpEndpointClient client, Map<String, Instance> live, int requests, int concurrency) {
      this.client = client;
      this.live = live;
      this.requests = requests;
      room = new Semaphore(concurrency);
      left = new CountDownLatch(requests);
      nanos = new long[requests];
    }

    void all() throws InterruptedException {
      long start = System.nanoTime();
      for (int i = 0; i < requests; i++) {
        room.acquire();
        var id = UUID.randomUUID().toString();
        answers.put(id, new AtomicInteger());
        new One(this, i, id).send();
      }
      boolean ended = left.await(60, TimeUnit.SECONDS);
      double seconds = (System.nanoTime() - start) / 1e9;
      Arrays.sort(nanos);
      System.out.printf(
          "%d requests in %.2f s, %d workers used; answered once %d, lost %d, doubled %d, not whole"
              + " %d, failed %d, moved %d%s%n",
          requests,
          seconds,
          used.size(),
          answers.values().stream().filter(count -> count.get() == 1).count(),
          answers.values().stream().filter(count -> count.get() == 0).count(),
          answers.values().stream().filter(count -> count.get() > 1).count(),
          wrong.get(),
          failed.get(),
          moved.get(),
          ended ? "" : "; not all ended");
      System.out.printf(
          "p50 %.1f ms, p99 %.1f ms, slowest %.1f ms; in flight at the end %d%n",
          nanos[requests / 2] / 1e6,
          nanos[requests * 99 / 100] / 1e6,
          nanos[requests - 1] / 1e6,
          client.inFlight());
    }
  }

  /** One request, perhaps sent more than once. */
  private static final class One implements Flow.Subscriber<EngineOutput> {
    private final Run run;
    private final int number;
    private final String id;
    private final long start = System.nanoTime();
    private int tokens;
    private int attempts;

    One(Run run, int number, String id) {
      this.run = run;
      this.number = number;
      this.id = id;
    }

    void send() {
      var all = List.copyOf(run.live.values());
      var instance = all.get(ThreadLocalRandom.current().nextInt(all.size()));
      tokens = 0;
      run.client
          .call(
              instance, OurPlane.request("tiny", TOKENS), new GenerateCodec(), OurPlane.context(id))
          .subscribe(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      if (tokens++ == 0) {
        run.used.put(item.tokenIds()[0], true);
      }
    }

    @Override
    public void onError(Throwable cause) {
      if (tokens == 0 && attempts++ < 3 && cause instanceof io.dynamo.error.Migratable) {
        run.moved.incrementAndGet();
        send();
        return;
      }
      System.err.println(cause);
      run.failed.incrementAndGet();
      end();
    }

    @Override
    public void onComplete() {
      run.answers.get(id).incrementAndGet();
      if (tokens != TOKENS) {
        run.wrong.incrementAndGet();
      }
      end();
    }

    private void end() {
      run.nanos[number] = System.nanoTime() - start;
      run.room.release();
      run.left.countDown();
    }
  }

  private static long rssMegabytes(long pid) throws java.io.IOException {
    for (var line : Files.readAllLines(Path.of("/proc", "" + pid, "status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
      }
    }
    return -1;
  }
}
