package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.AnswerItems;
import io.dynamo.frontend.kserve.TensorInputs;
import io.dynamo.frontend.openai.wire.TensorFormat;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.SseWriter;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.inference.Usage;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.request.RequestContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Has a worker answer with tensors, and writes these for the client. For one thread. */
final class TensorRun implements PreparedAnswer {
  private static final int WIRE_COPIES = 2; // the request for a worker, and its frame
  private static final int TENSOR_BYTES = 512; // beside its elements

  private final ServingParts parts;
  private final ReceivedRequest received;
  private final TensorFormat format;
  private final boolean streams;
  private final AnswerItems<TensorResponse> items;
  private final ItemCharge charge;
  private @Nullable DynamoException failure; // that ended a stream

  private TensorRun(
      ServingParts parts,
      ReceivedRequest received,
      TensorFormat format,
      boolean streams,
      AnswerItems<TensorResponse> items) {
    this.parts = parts;
    this.received = received;
    this.charge = new ItemCharge(received);
    this.format = format;
    this.streams = streams;
    this.items = items;
  }

  /**
   * Reads the elements of a request and asks a worker.
   *
   * @throws io.dynamo.frontend.ApiException with 400 when they do not have the form that they say
   */
  static TensorRun start(
      ServingParts parts,
      ReceivedRequest received,
      ServedModel model,
      TensorWish wish,
      RequestContext context) {
    var request = request(received, wish);
    return new TensorRun(
        parts,
        received,
        wish.form().tensors(wish.request(), model.name()),
        wish.form().mayStream(),
        parts.models().whole().tensors().open(model, request, context));
  }

  /** Reads the request for a worker; its memory is charged before it is taken. */
  private static TensorRequest request(ReceivedRequest received, TensorWish wish) {
    received.share().gather(TensorInputs.heapBytes(wish.request()));
    var request = TensorInputs.read(wish.request());
    received.share().gather(WIRE_COPIES * TensorInputs.wireBytes(request));
    return request;
  }

  @Override
  public @Nullable DynamoException run(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    if (streams) {
      answer.events(out -> failure = writer(client).writeTo(out));
      recordUsage();
      return failure;
    }
    items.awaitFirst();
    var only = Objects.requireNonNull(items.poll());
    received.share().gather(bytes(only));
    requireEnd();
    var body = format.whole(only);
    recordUsage();
    answer.json(body);
    return null;
  }

  private SseWriter<TensorResponse> writer(ClientConnection client) {
    return new SseWriter<>(
        items,
        new TensorFrames(format, received.account()::errorFor, this::weigh),
        parts.settings().heartbeat(),
        parts.rules().keepAlive(),
        client);
  }

  /** Waits for the end of a worker's answer, which must have no second item. */
  private void requireEnd() throws InterruptedException {
    while (!items.ended()) {
      if (items.poll() != null) {
        throw new EngineFailedException(
            ErrorCode.BACKEND_UNKNOWN, "the worker gave several answers to one request", null);
      }
      if (!items.ended()) {
        items.await(Long.MAX_VALUE / 4); // the deadline ends it
      }
    }
  }

  private void weigh(TensorResponse item) {
    charge.replace(bytes(item));
  }

  /** The memory that an item takes, and what is written of it. */
  private long bytes(TensorResponse item) {
    long bytes = format.writtenBytes(item);
    for (var tensor : item.tensors()) {
      bytes += TENSOR_BYTES + tensor.data().bytes().remaining();
    }
    return bytes;
  }

  private void recordUsage() {
    received.watch().recordUsage(new Usage(0, 0, null), RequestWatch.ServingWorker.NONE);
  }

  @Override
  public void abort(DynamoException cause) {
    items.abort(cause);
  }

  @Override
  public void close() {
    items.close();
  }
}
