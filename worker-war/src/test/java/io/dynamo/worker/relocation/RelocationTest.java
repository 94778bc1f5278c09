package io.dynamo.worker.relocation;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.SettingsReader;
import io.dynamo.config.key.Lookup.SettingText;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.json.JsonObject;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.RequestContext;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress;
import io.dynamo.transfer.tcp.TcpRegionExchange;
import io.dynamo.worker.HandAlarms;
import io.dynamo.worker.engine.BlockPort;
import io.dynamo.worker.engine.KvBlocks;
import io.dynamo.worker.engine.KvLayout;
import io.dynamo.worker.engine.Requests;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a sender and a receiver over real sockets, with engines that only keep bytes. */
class RelocationTest {
  private static final KvLayout LAYOUT = new KvLayout("test", "w1", 16, 1000);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final long MAX_BYTES = 100_000;
  private static final Instance WORKER =
      new Instance(
          new EndpointId("n", "c", Relocation.ENDPOINT),
          new InstanceId(7),
          new TransportAddress.Tcp("127.0.0.1:1", "x"),
          null,
          PayloadFormat.MSGPACK);
  private static final Instance OTHER =
      new Instance(WORKER.endpoint(), new InstanceId(8), WORKER.transport(), null, WORKER.format());

  private final EventLoops loops = new EventLoops(2);
  private final JavaHostMemory memory = new JavaHostMemory();
  private final TcpRegionExchange exchange = exchange(loops);
  private final HandAlarms alarms = new HandAlarms();
  private final Metrics metrics = new Metrics();
  private final StoringEngine source = new StoringEngine();
  private final StoringEngine target = new StoringEngine();
  private final BlockReceiver receiver =
      new BlockReceiver(
          target,
          memory,
          exchange,
          new BlockReceiver.Limits(MAX_BYTES, LEASE),
          alarms,
          Runnable::run,
          metrics.counter(WorkerMetrics.MOVED_TOKENS_IN));
  private final Metrics.Counter sent = metrics.counter(WorkerMetrics.MOVED_TOKENS_OUT);
  private final Metrics.Counter failed = metrics.counter(WorkerMetrics.MOVES_FAILED);
  private final Metrics.Counter saved = metrics.counter(WorkerMetrics.MOVED_TOKENS_IN);

  private static TcpRegionExchange exchange(EventLoops loops) {
    var folders =
        Map.of("java.io.tmpdir", "/tmp", "server.config.dir", "/srv", "server.output.dir", "/srv");
    var settings =
        SettingsReader.read(
            name -> {
              var text = folders.get(name);
              return text == null ? null : new SettingText(text, "test");
            });
    return new TcpRegionExchange(settings.tcp(), settings.transfer(), loops);
  }

  /** Gives random blocks away, and keeps the bytes of those that it takes. */
  private final class StoringEngine implements BlockPort {
    private final List<byte[]> taken = new ArrayList<>();
    private byte @Nullable [] given;
    private boolean wrongChecksums;
    private @Nullable Region exported;
    private @Nullable Deadline until; // of the last export

    @Override
    public KvLayout layout() {
      return LAYOUT;
    }

    @Override
    public @Nullable KvBlocks exportBlocks(RequestContext generation, Deadline deadline) {
      until = deadline;
      var bytes = given;
      if (bytes == null) {
        return null;
      }
      int count = bytes.length / 1000;
      var region = memory.allocate(bytes.length);
      region.write(0, ByteBuffer.wrap(bytes));
      exported = region;
      var checksums =
          IntStream.range(0, count)
              .map(i -> region.crc32c(i * 1000L, 1000) + (wrongChecksums ? 1 : 0))
              .toArray();
      return new KvBlocks(LAYOUT, IntStream.range(0, count * 16 + 5).toArray(), checksums, region);
    }

    @Override
    public int importBlocks(KvBlocks blocks, Deadline deadline) {
      blocks.requireIntact(LAYOUT);
      var bytes = ByteBuffer.allocate((int) blocks.byteSize());
      blocks.bytes().read(0, bytes);
      taken.add(bytes.array());
      return blocks.count();
    }
  }

  @AfterEach
  void close() {
    receiver.close();
    exchange.close();
    loops.close();
    memory.close();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  private BlockSender sender(BlockSender.Calls calls, Instance... receivers) {
    return new BlockSender(
        source, () -> List.of(receivers), calls, exchange, new BlockSender.Counters(sent, failed));
  }

  private JsonObject call(Instance worker, Map<String, @Nullable Object> message, Deadline deadline)
      throws InterruptedException {
    return JsonObject.of(receiver.answer(JsonObject.of(message), deadline));
  }

  private byte[] give(int blocks) {
    var bytes = new byte[blocks * 1000];
    new Random(blocks).nextBytes(bytes);
    source.given = bytes;
    return bytes;
  }

  private void move(BlockSender sender) throws InterruptedException {
    sender.move(Requests.of(new int[] {1}, 5), Requests.context(), soon());
  }

  @Test
  void theBlocksReachTheOtherEngine() throws Exception {
    var bytes = give(40);
    move(sender(this::call, WORKER));
    assertThat(target.taken).hasSize(1);
    assertThat(target.taken.getFirst()).isEqualTo(bytes);
    assertThat(sent.value()).isEqualTo(40 * 16);
    assertThat(saved.value()).isEqualTo(40 * 16);
    assertThat(failed.value()).isZero();
    assertThat(receiver.waitingBytes()).isZero();
    assertThat(exchange.leases()).isZero();
    assertThat(alarms.waiting()).isZero();
    var region = requireNonNull(source.exported);
    assertThatThrownBy(() -> region.crc32c(0, 1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void withoutAReceiverOrABlockNothingHappens() throws Exception {
    give(1);
    move(sender(this::call));
    source.given = null;
    move(sender(this::call, WORKER));
    assertThat(target.taken).isEmpty();
    assertThat(failed.value()).isZero();
  }

  @Test
  void blocksOfASaltStay() throws Exception {
    give(1);
    var hints = new RoutingHints(0, PassedOn.of(Map.of("cache_salt", "tenant-7")));
    sender(this::call, WORKER)
        .move(Requests.of(new int[] {1}, 5).routedTo(hints), Requests.context(), soon());
    assertThat(target.taken).isEmpty();
    assertThat(source.exported).isNull();
  }

  @Test
  void aReceiverThatFailsCostsNothingButTheMove() throws Exception {
    give(3);
    move(
        sender(
            (_, _, _) -> {
              throw new WorkerLostException(ErrorCode.DISCONNECTED, "gone");
            },
            WORKER));
    assertThat(failed.value()).isOne();
    assertThat(sent.value()).isZero();
  }

  @Test
  void aReceiverThatFailedIsNotAskedAgain() throws Exception {
    give(1);
    var asked = new ArrayList<InstanceId>();
    var sender =
        sender(
            (worker, message, deadline) -> {
              asked.add(worker.id());
              if (worker.equals(WORKER)) {
                throw new WorkerLostException(ErrorCode.DISCONNECTED, "gone");
              }
              return call(worker, message, deadline);
            },
            WORKER,
            OTHER);
    for (int i = 0; i < 4; i++) {
      move(sender);
    }
    assertThat(asked).containsOnlyOnce(WORKER.id());
    assertThat(target.taken).hasSize(3);
    assertThat(failed.value()).isOne();
  }

  @Test
  void aReceiverWithoutRoomIsAskedAgain() throws Exception {
    give(1);
    var asked = new ArrayList<InstanceId>();
    var sender =
        sender(
            (worker, _, _) -> {
              asked.add(worker.id());
              throw new WorkerBusyException("full");
            },
            WORKER);
    move(sender);
    move(sender);
    assertThat(asked).hasSize(2);
  }

  @Test
  void aFailureToFindReceiversIsCountedAndPassed() throws Exception {
    give(1);
    var sender =
        new BlockSender(
            source,
            () -> {
              throw new IllegalStateException("discovery is closed");
            },
            this::call,
            exchange,
            new BlockSender.Counters(sent, failed));
    move(sender);
    assertThat(failed.value()).isOne();
  }

  @Test
  void allStepsOfAMoveShareOneDeadline() throws Exception {
    give(1);
    var deadlines = new ArrayList<Deadline>();
    move(
        sender(
            (worker, message, deadline) -> {
              deadlines.add(deadline);
              return call(worker, message, deadline);
            },
            WORKER));
    var until = requireNonNull(source.until);
    assertThat(deadlines).containsExactly(until, until);
  }

  @Test
  void anOfferWhoseBytesCannotBeWrittenIsAborted() throws Exception {
    give(3);
    move(
        sender(
            (worker, message, deadline) -> {
              var answer = call(worker, message, deadline);
              return BlockOffer.OFFER.equals(message.get(BlockOffer.OPERATION))
                  ? withWrongSecret(answer)
                  : answer;
            },
            WORKER));
    assertThat(failed.value()).isOne();
    assertThat(receiver.waitingBytes()).isZero();
    assertThat(exchange.leases()).isZero();
    assertThat(alarms.waiting()).isZero();
  }

  @Test
  void anOfferThatIsInterruptedIsAborted() throws Exception {
    give(3);
    var sender =
        sender(
            (worker, message, deadline) -> {
              if (BlockOffer.COMMIT.equals(message.get(BlockOffer.OPERATION))) {
                throw new InterruptedException("the drain is at its deadline");
              }
              return call(worker, message, deadline);
            },
            WORKER);
    assertThatThrownBy(() -> move(sender)).isInstanceOf(InterruptedException.class);
    assertThat(receiver.waitingBytes()).isZero();
    assertThat(exchange.leases()).isZero();
    assertThat(alarms.waiting()).isZero();
  }

  private static JsonObject withWrongSecret(JsonObject answer) {
    var to = RegionAddress.of(answer);
    return JsonObject.of(
        new RegionAddress(to.host(), to.port(), to.lease(), new byte[32], to.byteSize())
            .toMembers());
  }

  @Test
  void anOfferThatCannotBeTimedIsRefusedAndFreed() {
    try (var stopping =
        new BlockReceiver(
            target,
            memory,
            exchange,
            new BlockReceiver.Limits(MAX_BYTES, LEASE),
            (_, _) -> {
              throw new RejectedExecutionException("the timer is closed");
            },
            Runnable::run,
            saved)) {
      var offer = JsonObject.of(new BlockOffer(LAYOUT, new int[16], new int[1]).toMembers());
      assertThatThrownBy(() -> stopping.answer(offer, soon()))
          .isInstanceOf(WorkerBusyException.class);
      assertThat(stopping.waitingBytes()).isZero();
    }
    assertThat(exchange.leases()).isZero();
  }

  @Test
  void damageOnTheWayIsNoticed() throws Exception {
    give(3);
    source.wrongChecksums = true;
    move(sender(this::call, WORKER));
    assertThat(target.taken).isEmpty();
    assertThat(failed.value()).isOne();
    assertThat(receiver.waitingBytes()).isZero();
  }

  @Test
  void workersTakeTurns() throws Exception {
    give(1);
    var asked = new ArrayList<InstanceId>();
    var sender =
        sender(
            (worker, message, deadline) -> {
              asked.add(worker.id());
              return call(worker, message, deadline);
            },
            WORKER,
            OTHER);
    move(sender);
    move(sender);
    assertThat(asked).containsExactly(WORKER.id(), WORKER.id(), OTHER.id(), OTHER.id());
  }

  @Test
  void offersAreBounded() throws Exception {
    assertThatThrownBy(() -> offer(new int[101], new int[101 * 16]))
        .isInstanceOf(WorkerBusyException.class)
        .hasMessageContaining("dynamo.transfer.max-bytes 100000");
    offer(new int[60], new int[60 * 16]);
    assertThatThrownBy(() -> offer(new int[60], new int[60 * 16]))
        .isInstanceOf(WorkerBusyException.class);
    assertThat(receiver.waitingBytes()).isEqualTo(60_000);
  }

  private JsonObject offer(int[] checksums, int[] tokens) throws InterruptedException {
    return call(WORKER, new BlockOffer(LAYOUT, tokens, checksums).toMembers(), soon());
  }

  @Test
  void anOfferThatIsNotCommittedEndsWithItsLease() throws Exception {
    var address = RegionAddress.of(offer(new int[1], new int[16]));
    alarms.advance(LEASE);
    assertThat(receiver.waitingBytes()).isZero();
    assertThat(exchange.leases()).isZero();
    assertThatThrownBy(
            () ->
                call(
                    WORKER,
                    JsonObject.ordered(
                        BlockOffer.OPERATION, BlockOffer.COMMIT, BlockOffer.LEASE, address.lease()),
                    soon()))
        .isInstanceOf(InvalidRequestException.class);
  }

  /** Unmapping may take long, and other tasks wait for the timer. */
  @Test
  void theTimerDoesNotEndAnOfferItself() throws Exception {
    var tasks = new ArrayList<Runnable>();
    try (var receiving =
        new BlockReceiver(
            target,
            memory,
            exchange,
            new BlockReceiver.Limits(MAX_BYTES, LEASE),
            alarms,
            tasks::add,
            saved)) {
      var offer = JsonObject.of(new BlockOffer(LAYOUT, new int[16], new int[1]).toMembers());
      var _ = receiving.answer(offer, soon());
      alarms.advance(LEASE);
      assertThat(receiving.waitingBytes()).isEqualTo(1000);
      assertThat(tasks).hasSize(1);
      tasks.getFirst().run();
      assertThat(receiving.waitingBytes()).isZero();
    }
  }

  @Test
  void messagesOfNoUseAreRefused() {
    for (var wrong :
        List.of(
            JsonObject.of(Map.of()),
            JsonObject.of(Map.of("op", "steal")),
            JsonObject.of(Map.of("op", 7)),
            JsonObject.of(Map.of("op", "commit", "lease", 5L)),
            JsonObject.of(Map.of("op", "commit")),
            JsonObject.of(Map.of("op", "offer")),
            JsonObject.of(Map.of("op", "abort")),
            offered(new KvLayout("other", "w1", 16, 1000), 16, 1),
            offered(new KvLayout("test", "w2", 16, 1000), 16, 1),
            offered(LAYOUT, 15, 1),
            offered(LAYOUT, 16, 0))) {
      assertThatThrownBy(() -> receiver.answer(wrong, soon()))
          .isInstanceOf(InvalidRequestException.class);
    }
    assertThat(receiver.waitingBytes()).isZero();
  }

  private static JsonObject offered(KvLayout layout, int tokens, int blocks) {
    return JsonObject.of(new BlockOffer(layout, new int[tokens], new int[blocks]).toMembers());
  }

  @Test
  void closingEndsOffers() throws Exception {
    offer(new int[1], new int[16]);
    receiver.close();
    assertThat(receiver.waitingBytes()).isZero();
    assertThatThrownBy(() -> offer(new int[1], new int[16]))
        .isInstanceOf(WorkerBusyException.class);
    assertThat(receiver.waitingBytes()).isZero();
  }
}
