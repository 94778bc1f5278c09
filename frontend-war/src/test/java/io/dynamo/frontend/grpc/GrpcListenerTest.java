package io.dynamo.frontend.grpc;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.GrpcSettings;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.Published;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gRPC port before grpc-java's own client. */
class GrpcListenerTest {
  private static final int MESSAGE_BYTES = 1 << 20;
  private static final Duration LONG = Duration.ofSeconds(60);

  private final ExecutorService blocking = Executors.newVirtualThreadPerTaskExecutor();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final LinkedBlockingQueue<Started> started = new LinkedBlockingQueue<>();
  private final List<ManagedChannel> channels = new ArrayList<>();
  private GrpcSettings settings = settings(16);
  private InferHandler.Patience patience = new InferHandler.Patience(LONG, LONG, LONG);
  private BodyBudget budget = new BodyBudget(new BodyBudget.Limits(64 << 20, 1 << 20, 1024));
  private @Nullable ApiException refusal;
  private @Nullable GrpcListener listener;

  private static GrpcSettings settings(int connections) {
    return new GrpcSettings(true, 0, connections, 64, 64 << 10, LONG, LONG);
  }

  /** A catalog without models. */
  private static final class NoModels implements ModelCatalog {
    @Override
    public List<ServedModel> models() {
      return List.of();
    }

    @Override
    public Optional<ServedModel> find(String name) {
      return Optional.empty();
    }

    @Override
    public List<ServedModel> sets(String name) {
      return List.of();
    }

    @Override
    public Optional<ServedModel> choose(String name, Query query) {
      return Optional.empty();
    }

    @Override
    public List<ServedModel> successors(ServedModel lost) {
      return List.of();
    }

    @Override
    public boolean isKnown(String name) {
      return false;
    }

    @Override
    public SequencedMap<String, Set<String>> waiting() {
      return new TreeMap<>();
    }

    @Override
    public Optional<Readiness> readiness(String name) {
      return Optional.empty();
    }
  }

  /** A request that came. */
  private record Started(
      byte[] message,
      Runnable onRead,
      InferCalls.Caller caller,
      boolean streamed,
      InferCalls.Answer answer,
      Cancellation cancellation) {}

  private Cancellation start(
      byte[] message,
      Runnable onRead,
      InferCalls.Caller caller,
      boolean streamed,
      InferCalls.Answer answer) {
    if (refusal != null) {
      throw refusal;
    }
    var cancellation = new Cancellation();
    started.add(new Started(message, onRead, caller, streamed, answer, cancellation));
    return cancellation;
  }

  private GrpcListener open() {
    var means = new LookupHandler.Means(patience, timer, blocking);
    var open =
        GrpcListener.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            new GrpcListener.Bounds(settings, MESSAGE_BYTES, budget::open),
            null,
            List.of(
                InferenceService.of(
                    this::start, new ModelDirectory(new NoModels()), () -> true, means),
                HealthService.of(() -> false, means)),
            blocking);
    listener = open;
    return open;
  }

  @AfterEach
  void close() throws Exception {
    for (var channel : channels) {
      channel.shutdownNow();
      assertThat(channel.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }
    if (listener != null) {
      listener.stop(Deadline.after(LONG));
    }
    timer.shutdownNow();
    blocking.shutdownNow();
    assertThat(budget.heldBytes()).isZero();
  }

  private ManagedChannel channel() {
    var port = listener == null ? open().port() : listener.port();
    var channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port)
            .usePlaintext()
            .maxInboundMessageSize(64 << 20)
            .build();
    channels.add(channel);
    return channel;
  }

  private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
    return MethodDescriptor.<byte[], byte[]>newBuilder(MessageBytes.INSTANCE, MessageBytes.INSTANCE)
        .setType(type)
        .setFullMethodName("inference.GRPCInferenceService/" + name)
        .build();
  }

  private static ClientCall<byte[], byte[]> infer(ManagedChannel channel) {
    return channel.newCall(method("ModelInfer", MethodType.UNARY), CallOptions.DEFAULT);
  }

  private static ClientCall<byte[], byte[]> stream(ManagedChannel channel) {
    return channel.newCall(
        method("ModelStreamInfer", MethodType.BIDI_STREAMING), CallOptions.DEFAULT);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] message) {
    return new String(message, StandardCharsets.UTF_8);
  }

  private Started next() throws InterruptedException {
    return requireNonNull(started.poll(30, TimeUnit.SECONDS), "no request came");
  }

  /** The messages and the end of a call, as its client gets them. */
  private static final class Received implements StreamObserver<byte[]> {
    final LinkedBlockingQueue<byte[]> messages = new LinkedBlockingQueue<>();
    final CompletableFuture<Status> end = new CompletableFuture<>();

    @Override
    public void onNext(byte[] message) {
      messages.add(message);
    }

    @Override
    public void onError(Throwable failure) {
      end.complete(Status.fromThrowable(failure));
    }

    @Override
    public void onCompleted() {
      end.complete(Status.OK);
    }

    Status.Code code() throws Exception {
      return end.get(30, TimeUnit.SECONDS).getCode();
    }

    String text() throws InterruptedException {
      return GrpcListenerTest.text(
          requireNonNull(messages.poll(30, TimeUnit.SECONDS), "no message came"));
    }
  }

  @Test
  void aRequestIsAnswered() throws Exception {
    var answer = ClientCalls.futureUnaryCall(infer(channel()), bytes("Hi"));
    var request = next();

    assertThat(text(request.message())).isEqualTo("Hi");
    assertThat(request.streamed()).isFalse();
    assertThat(request.caller().patience()).isNull();
    request.answer().message(bytes("Hello"));
    request.answer().done();

    assertThat(text(answer.get(30, TimeUnit.SECONDS))).isEqualTo("Hello");
  }

  @Test
  void metadataAndPatienceOfTheCallerAreKnown() throws Exception {
    var metadata = new Metadata();
    metadata.put(Metadata.Key.of("X-Some", Metadata.ASCII_STRING_MARSHALLER), "one");
    metadata.put(Metadata.Key.of("x-some", Metadata.ASCII_STRING_MARSHALLER), "two");
    metadata.put(Metadata.Key.of("x-some-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[1]);
    var channel = channel();
    var call =
        MetadataUtils.newAttachHeadersInterceptor(metadata)
            .interceptCall(
                method("ModelInfer", MethodType.UNARY),
                CallOptions.DEFAULT.withDeadlineAfter(50, TimeUnit.SECONDS),
                channel);
    var answer = ClientCalls.futureUnaryCall(call, new byte[0]);
    var caller = next().caller();

    assertThat(caller.headers()).containsEntry("x-some", "one").doesNotContainKey("x-some-bin");
    assertThat(caller.patience()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(50));
    answer.cancel(true);
  }

  @Test
  void requestsOfAStreamAreAnsweredOneAfterTheOther() throws Exception {
    var received = new Received();
    var requests = ClientCalls.asyncBidiStreamingCall(stream(channel()), received);
    requests.onNext(bytes("one"));
    requests.onNext(bytes("two"));
    requests.onCompleted();

    var one = next();
    assertThat(one.streamed()).isTrue();
    one.answer().message(bytes("1a"));
    one.answer().message(bytes("1b"));
    assertThat(received.text() + received.text()).isEqualTo("1a1b");
    assertThat(started).as("the second request waits for the first").isEmpty();
    one.answer().done();
    var two = next();
    two.answer().done();

    assertThat(received.code()).isEqualTo(Status.Code.OK);
    assertThat(received.messages).isEmpty();
  }

  @Test
  void aStreamWithoutARequestEndsWell() throws Exception {
    var received = new Received();
    ClientCalls.asyncBidiStreamingCall(stream(channel()), received).onCompleted();

    assertThat(received.code()).isEqualTo(Status.Code.OK);
  }

  @Test
  void errorsHaveTheirStatus() throws Exception {
    var answer = new Received();
    ClientCalls.asyncUnaryCall(infer(channel()), new byte[0], answer);
    next().answer().failed(ApiError.overloaded(503, "busy", 2));

    assertThat(answer.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(answer.end.get().getDescription()).isEqualTo("busy");
  }

  @Test
  void aRefusedRequestIsAnsweredAtOnce() throws Exception {
    refusal = new ApiException(ApiError.unavailable("not yet", null));
    var answer = new Received();
    ClientCalls.asyncUnaryCall(infer(channel()), new byte[0], answer);

    assertThat(answer.code()).isEqualTo(Status.Code.UNAVAILABLE);
  }

  @Test
  void aCancelledCallCancelsItsRequest() throws Exception {
    var answer = ClientCalls.futureUnaryCall(infer(channel()), new byte[0]);
    var request = next();
    var cancelled = new CountDownLatch(1);
    var _ = request.cancellation().onCancel(_ -> cancelled.countDown());
    answer.cancel(true);

    assertThat(cancelled.await(30, TimeUnit.SECONDS)).isTrue();
    assertThatThrownBy(() -> request.answer().message(new byte[1]))
        .isInstanceOf(UncheckedIOException.class);
    assertThatThrownBy(() -> request.answer().failed(ApiError.of(500, "late")))
        .isInstanceOf(UncheckedIOException.class);
  }

  @Test
  void aLostConnectionCancelsItsRequests() throws Exception {
    var channel = channel();
    var received = new Received();
    ClientCalls.asyncBidiStreamingCall(stream(channel), received).onNext(new byte[0]);
    var cancelled = new CountDownLatch(1);
    var _ = next().cancellation().onCancel(_ -> cancelled.countDown());
    channel.shutdownNow();

    assertThat(cancelled.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aDeadlineThatPassesCancelsItsRequest() throws Exception {
    var answer = new Received();
    ClientCalls.asyncUnaryCall(
        channel()
            .newCall(
                method("ModelInfer", MethodType.UNARY),
                CallOptions.DEFAULT.withDeadlineAfter(300, TimeUnit.MILLISECONDS)),
        new byte[0],
        answer);
    var cancelled = new CountDownLatch(1);
    var _ = next().cancellation().onCancel(_ -> cancelled.countDown());

    assertThat(cancelled.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(answer.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
  }

  @Test
  void aClientThatDoesNotReadIsCutOff() throws Exception {
    patience = new InferHandler.Patience(LONG, LONG, Duration.ofMillis(300));
    var call = stream(channel());
    call.start(new ClientCall.Listener<>() {}, new Metadata()); // asks for no message
    call.sendMessage(new byte[0]);
    var request = next();

    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 10_000; i++) {
                request.answer().message(new byte[64 << 10]);
              }
            })
        .isInstanceOf(UncheckedIOException.class);
    var cancelled = new CountDownLatch(1);
    var _ = request.cancellation().onCancel(_ -> cancelled.countDown());
    assertThat(cancelled.await(30, TimeUnit.SECONDS)).isTrue();
    call.cancel("over", null);
  }

  @Test
  void aClientThatDoesNotReadItsOnlyMessageIsCutOff() throws Exception {
    patience = new InferHandler.Patience(LONG, LONG, Duration.ofMillis(300));
    var end = new CompletableFuture<Status>();
    var call = infer(channel());
    call.start(endOf(end), new Metadata()); // asks for no message
    call.sendMessage(new byte[0]);
    call.halfClose();
    var answer = next().answer();

    assertThatThrownBy(() -> answer.message(new byte[4 << 20]))
        .isInstanceOf(UncheckedIOException.class);
    call.request(1); // as the end comes to the client behind what it has
    assertThat(end.get(30, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.CANCELLED);
  }

  @Test
  void anErrorWaitsForTheMessageBeforeIt() throws Exception {
    budget = new BodyBudget(new BodyBudget.Limits(400_000, 1000, 1024));
    var begun = new CountDownLatch(1);
    var lengths = new LinkedBlockingQueue<Integer>();
    var end = new CompletableFuture<Status>();
    var call = infer(channel());
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onHeaders(Metadata headers) {
            begun.countDown();
          }

          @Override
          public void onMessage(byte[] message) {
            lengths.add(message.length);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    call.sendMessage(new byte[300_000]);
    call.halfClose();
    var answer = next().answer();
    var sender = blocking.submit(() -> answer.message(new byte[4 << 20]));
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    try (var other = budget.open()) {
      other.chargeComplete(390_000); // the call yields
    }
    call.request(2);

    assertThat(end.get(30, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(lengths).containsExactly(4 << 20);
    assertThatThrownBy(() -> sender.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(UncheckedIOException.class);
  }

  private static ClientCall.Listener<byte[]> endOf(CompletableFuture<Status> end) {
    return new ClientCall.Listener<>() {
      @Override
      public void onClose(Status status, Metadata trailers) {
        end.complete(status);
      }
    };
  }

  @Test
  void aClientThatReadsSlowlyHoldsTheSenderBack() throws Exception {
    var messages = new LinkedBlockingQueue<Integer>();
    var call = stream(channel());
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(byte[] message) {
            messages.add(message.length);
          }
        },
        new Metadata());
    call.sendMessage(new byte[0]);
    call.request(1);
    var request = next();
    var sent = new AtomicInteger();
    var sender =
        blocking.submit(
            () -> {
              for (int i = 0; i < 100; i++) {
                request.answer().message(new byte[64 << 10]);
                sent.incrementAndGet();
              }
              request.answer().done();
            });
    assertThat(messages.poll(30, TimeUnit.SECONDS)).isEqualTo(64 << 10);
    assertThat(sender.isDone()).isFalse();
    assertThat(sent.get()).isLessThan(20);

    call.request(1000);
    for (int i = 1; i < 100; i++) {
      assertThat(messages.poll(30, TimeUnit.SECONDS)).isEqualTo(64 << 10);
    }
    sender.get(30, TimeUnit.SECONDS);
    call.cancel("over", null);
  }

  @Test
  void tooLongMessagesAreRefused() throws Exception {
    var answer = new Received();
    ClientCalls.asyncUnaryCall(infer(channel()), new byte[MESSAGE_BYTES + 1], answer);

    assertThat(answer.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(started).isEmpty();
  }

  @Test
  void compressedMessagesAreRefused() throws Exception {
    var answer = new Received();
    ClientCalls.asyncUnaryCall(
        channel()
            .newCall(
                method("ModelInfer", MethodType.UNARY),
                CallOptions.DEFAULT.withCompression("gzip")),
        new byte[1000],
        answer);

    assertThat(answer.code()).isEqualTo(Status.Code.UNIMPLEMENTED);
    assertThat(started).isEmpty();
  }

  @Test
  void messagesForWhichThereIsNoMemoryAreRefused() throws Exception {
    budget = new BodyBudget(new BodyBudget.Limits(100_000, 1000, 1024));
    var answer = new Received();
    ClientCalls.asyncUnaryCall(infer(channel()), new byte[500_000], answer);

    assertThat(answer.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(started).isEmpty();
  }

  @Test
  void aMessageThatArrivesYieldsToOtherRequests() throws Exception {
    budget = new BodyBudget(new BodyBudget.Limits(400_000, 1000, 1024));
    var answer = new Received();
    var call = // of a type whose messages leave before the call is half closed
        channel().newCall(method("ModelInfer", MethodType.BIDI_STREAMING), CallOptions.DEFAULT);
    ClientCalls.asyncBidiStreamingCall(call, answer).onNext(new byte[300_000]);
    try (var other = budget.open()) {
      var limit = Deadline.after(LONG);
      while (budget.heldBytes() < 300_000 - 1024) { // all of it has come
        assertThat(limit.isExpired()).isFalse();
        Thread.onSpinWait();
      }
      other.chargeComplete(390_000);

      assertThat(answer.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
      assertThat(answer.end.get().getDescription()).contains("gave its memory");
    }
    assertThat(started).isEmpty();
  }

  @Test
  void aCallWithoutItsRequestEnds() throws Exception {
    patience = new InferHandler.Patience(Duration.ofMillis(100), LONG, LONG);
    var answer = new Received();
    var call = // of a type whose head does not wait for a message
        channel().newCall(method("ModelInfer", MethodType.BIDI_STREAMING), CallOptions.DEFAULT);
    call.start(endOf(answer.end), new Metadata());
    call.request(1);

    assertThat(answer.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
  }

  @Test
  void aLookupWithoutItsRequestEnds() throws Exception {
    patience = new InferHandler.Patience(Duration.ofMillis(100), LONG, LONG);
    var end = new CompletableFuture<Status>();
    var call = // of a type whose head does not wait for a message
        channel().newCall(method("ServerLive", MethodType.BIDI_STREAMING), CallOptions.DEFAULT);
    call.start(endOf(end), new Metadata());
    call.request(1);

    assertThat(end.get(30, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
  }

  @Test
  void aLongLookupIsRefusedBeforeItIsWhole() throws Exception {
    var answer = new Received();
    ClientCalls.asyncUnaryCall(
        channel().newCall(method("ServerLive", MethodType.UNARY), CallOptions.DEFAULT),
        new byte[MESSAGE_BYTES / 2],
        answer);

    assertThat(answer.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(answer.end.get().getDescription()).contains("65536 bytes");
  }

  @Test
  void aMessageIsChargedUntilItIsRead() throws Exception {
    var answer = ClientCalls.futureUnaryCall(infer(channel()), new byte[100_000]);
    var request = next();

    assertThat(budget.heldBytes()).isBetween(90_000L, 110_000L);
    request.onRead().run();
    assertThat(budget.heldBytes()).isZero();
    answer.cancel(true);
  }

  @Test
  void eachRequestOfAStreamHasWhatIsLeftOfItsTime() throws Exception {
    var call =
        channel()
            .newCall(
                method("ModelStreamInfer", MethodType.BIDI_STREAMING),
                CallOptions.DEFAULT.withDeadlineAfter(50, TimeUnit.SECONDS));
    var requests = ClientCalls.asyncBidiStreamingCall(call, new Received());
    requests.onNext(bytes("one"));
    var one = next();
    one.answer().done();
    requests.onNext(bytes("two"));

    assertThat(next().caller().patience())
        .isLessThan(requireNonNull(one.caller().patience()))
        .isGreaterThan(Duration.ofSeconds(1));
    call.cancel("over", null);
  }

  @Test
  void anIdleStreamEnds() throws Exception {
    patience = new InferHandler.Patience(LONG, Duration.ofMillis(200), LONG);
    var received = new Received();
    var requests = ClientCalls.asyncBidiStreamingCall(stream(channel()), received);
    requests.onNext(new byte[0]);
    next().answer().done();

    assertThat(received.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    assertThat(received.end.get().getDescription()).contains("200 ms");
  }

  @Test
  void aRunningRequestIsNotIdle() throws Exception {
    patience = new InferHandler.Patience(LONG, Duration.ofMillis(50), LONG);
    var received = new Received();
    var requests = ClientCalls.asyncBidiStreamingCall(stream(channel()), received);
    requests.onNext(new byte[0]);
    var request = next();
    var later = new CountDownLatch(1);
    var _ = timer.schedule(later::countDown, 200, TimeUnit.MILLISECONDS);
    assertThat(later.await(30, TimeUnit.SECONDS)).isTrue();
    request.answer().message(bytes("still"));

    assertThat(received.text()).isEqualTo("still");
    requests.onCompleted();
    request.answer().done();
    assertThat(received.code()).isEqualTo(Status.Code.OK);
  }

  @Test
  void connectionsAboveTheLimitAreClosed() throws Exception {
    settings = settings(1);
    var first = new Received();
    var requests = ClientCalls.asyncBidiStreamingCall(stream(channel()), first);
    requests.onNext(bytes("one"));
    next();
    var second = new Received();
    ClientCalls.asyncUnaryCall(infer(channel()), new byte[0], second);

    assertThat(second.code()).isEqualTo(Status.Code.UNAVAILABLE);
    requests.onError(Status.CANCELLED.asException());
  }

  @Test
  void aDrainedPortEndsWhatRunsAndTakesNoMore() throws Exception {
    var channel = channel();
    var running = ClientCalls.futureUnaryCall(infer(channel), new byte[0]);
    var request = next();
    requireNonNull(listener).drain();
    request.answer().message(bytes("end"));
    request.answer().done();

    assertThat(text(running.get(30, TimeUnit.SECONDS))).isEqualTo("end");
    var refused = new Received();
    ClientCalls.asyncUnaryCall(infer(channel), new byte[0], refused);
    assertThat(refused.code()).isEqualTo(Status.Code.UNAVAILABLE);
  }

  @Test
  void lookupsAreAnswered() {
    var channel = channel();

    var live =
        ClientCalls.blockingUnaryCall(
            channel.newCall(method("ServerLive", MethodType.UNARY), CallOptions.DEFAULT),
            new byte[0]);
    assertThat(Published.decode("ServerLiveResponse", live)).isEqualTo("live: true");
    var ready =
        ClientCalls.blockingUnaryCall(
            channel.newCall(method("ServerReady", MethodType.UNARY), CallOptions.DEFAULT),
            new byte[0]);
    assertThat(Published.decode("ServerReadyResponse", ready)).isEmpty();
    assertThatThrownBy(
            () ->
                ClientCalls.blockingUnaryCall(
                    channel.newCall(method("ModelMetadata", MethodType.UNARY), CallOptions.DEFAULT),
                    Published.encode("ModelMetadataRequest", "name: 'nobody'")))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND));
  }

  @Test
  void probesOfGrpcAreAnswered() {
    var check =
        MethodDescriptor.<byte[], byte[]>newBuilder(MessageBytes.INSTANCE, MessageBytes.INSTANCE)
            .setType(MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/Check")
            .build();
    var channel = channel();

    assertThat(
            ClientCalls.blockingUnaryCall(channel.newCall(check, CallOptions.DEFAULT), new byte[0]))
        .as("status: NOT_SERVING")
        .containsExactly(8, 2);
    assertThatThrownBy(
            () ->
                ClientCalls.blockingUnaryCall(
                    channel.newCall(check, CallOptions.DEFAULT),
                    Published.encode("ModelReadyRequest", "name: 'nobody'")))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND));
  }

  @Test
  void unknownMethodsAreUnimplemented() {
    assertThat(unimplemented("Nothing")).contains("Method not found");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "RepositoryModelLoad          | models come and go with their workers",
        "RepositoryModelUnload        | models come and go with their workers",
        "SystemSharedMemoryStatus     | maps no memory of its clients",
        "SystemSharedMemoryRegister   | maps no memory of its clients",
        "SystemSharedMemoryUnregister | maps no memory of its clients",
        "CudaSharedMemoryStatus       | maps no memory of its clients",
        "CudaSharedMemoryRegister     | maps no memory of its clients",
        "CudaSharedMemoryUnregister   | maps no memory of its clients",
        "TraceSetting                 | clients cannot change traces",
        "LogSettings                  | clients cannot change the log",
      })
  void methodsThatAreNotServedSayWhy(String method, String words) {
    assertThat(unimplemented(method)).contains(words);
  }

  private String unimplemented(String method) {
    var thrown =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                ClientCalls.blockingUnaryCall(
                    channel().newCall(method(method, MethodType.UNARY), CallOptions.DEFAULT),
                    new byte[0]));
    assertThat(thrown.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
    return requireNonNull(thrown.getStatus().getDescription());
  }

  @Test
  void statisticsAndTheListOfModelsAreAnswered() {
    for (var method : List.of("ModelStatistics", "RepositoryIndex")) {
      assertThat(
              ClientCalls.blockingUnaryCall(
                  channel().newCall(method(method, MethodType.UNARY), CallOptions.DEFAULT),
                  new byte[0]))
          .as("no models")
          .isEmpty();
    }
  }
}
