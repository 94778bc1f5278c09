package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.AnswerItems;
import io.dynamo.frontend.openai.wire.MediaAnswer;
import io.dynamo.frontend.openai.wire.PooledBytes;
import io.dynamo.frontend.openai.wire.TaskAnswer;
import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.FrameEncoder;
import io.dynamo.frontend.sse.SseWriter;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.inference.TaskOutput;
import io.dynamo.inference.Usage;
import io.dynamo.request.RequestContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Has a worker do a task, and writes its answer for the client. For one thread. */
final class TaskRun implements PreparedAnswer {
  private static final int COPIES = 3; // of an item: the worker's, its text, and what is written
  private static final String BYTES = "application/octet-stream";

  private final ServingParts parts;
  private final ReceivedRequest received;
  private final TaskRequest request;
  private final AnswerItems<TaskOutput> items;
  private final ItemCharge charge;

  TaskRun(
      ServingParts parts,
      ReceivedRequest received,
      ServedModel model,
      TaskWish wish,
      RequestContext context) {
    this.parts = parts;
    this.received = received;
    this.charge = new ItemCharge(received);
    this.request = wish.request();
    this.items = parts.models().whole().tasks().open(model, wish.task(), context);
  }

  @Override
  public @Nullable DynamoException run(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    return switch (request.kind()) {
      case RERANK, CLASSIFY, POOLING -> writeTask(answer);
      case IMAGES, IMAGE_EDITS -> writeMedia(answer);
      case VIDEOS -> request.wantsStream() ? writeEvents(answer, client) : writeMedia(answer);
      case VIDEO_FRAMES ->
          writeParts(answer, client, VideoFrames.CONTENT_TYPE, new VideoFrames(this::weigh));
      case SPEECH -> request.wantsStream() ? writeSound(answer, client) : writeMedia(answer);
    };
  }

  private @Nullable DynamoException writeTask(TrackedAnswer answer) throws InterruptedException {
    var output = first();
    var pooled = request.wantsBytes() ? PooledBytes.of(request, output) : null;
    var body = pooled == null ? TaskAnswer.write(request.kind(), output) : pooled.body();
    received.share().gather(2L * body.length); // the worker's answer is about as long
    recordUsage(TaskAnswer.promptTokens(output));
    if (pooled == null) {
      answer.json(body);
    } else {
      answer.whole(new AnswerSink.WholeBody(200, BYTES, body, pooled.metadata()));
    }
    return null;
  }

  private TaskOutput first() throws InterruptedException {
    items.awaitFirst();
    return Objects.requireNonNull(items.poll());
  }

  /** Writes an answer that is complete before it leaves. */
  private @Nullable DynamoException writeMedia(TrackedAnswer answer) throws InterruptedException {
    items.awaitFirst();
    var media = new MediaAnswer(request.kind());
    while (!items.ended()) {
      var item = items.poll();
      if (item == null) {
        items.await(Long.MAX_VALUE / 4); // the deadline ends it
      } else {
        received.share().gather(COPIES * MediaAnswer.heapBytes(item.json()));
        media.add(item);
      }
    }
    recordUsage(0);
    if (request.kind() != TaskRequest.Kind.SPEECH) {
      answer.json(media.json());
      return null;
    }
    return writeSound(answer, media);
  }

  private @Nullable DynamoException writeSound(TrackedAnswer answer, MediaAnswer media) {
    if (media.isFailed()) {
      return refuse(answer, media.json());
    }
    if ("url".equals(request.body().get("data_source"))) {
      answer.json(media.json());
      return null;
    }
    var sound = media.bytes();
    if (sound == null) {
      throw SoundParts.silent();
    }
    answer.whole(new AnswerSink.WholeBody(200, media.soundType(), sound, null));
    return null;
  }

  /** Sends on the report of a worker that could not do its work, as Dynamo does. */
  private static DynamoException refuse(TrackedAnswer answer, byte[] report) {
    answer.whole(new AnswerSink.WholeBody(400, "application/json", report, null));
    return new InvalidRequestException("the worker could not do the work");
  }

  private @Nullable DynamoException writeSound(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    var first = first();
    var fields = MediaAnswer.fields(request.kind(), first);
    if (MediaAnswer.isFailed(fields)) {
      return refuse(answer, MediaAnswer.json(request.kind(), fields));
    }
    var sound = new SoundParts(this::weigh);
    sound.begin(first, items);
    return writeParts(answer, client, sound.contentType(), sound);
  }

  private @Nullable DynamoException writeParts(
      TrackedAnswer answer,
      ClientConnection client,
      String contentType,
      FrameEncoder<TaskOutput> encoder)
      throws InterruptedException {
    items.awaitFirst(); // a failure before it has its status line
    recordUsage(0);
    var failure = new Failure();
    answer.parts(
        contentType, out -> (failure.cause = writer(encoder, client).writeTo(out)) == null);
    return failure.cause;
  }

  private @Nullable DynamoException writeEvents(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    items.awaitFirst(parts.settings().firstItemWait().toNanos());
    recordUsage(0);
    var failure = new Failure();
    var encoder = new TaskEvents(request.kind(), received.account()::errorFor, this::weigh);
    answer.events(out -> failure.cause = writer(encoder, client).writeTo(out));
    return failure.cause;
  }

  private SseWriter<TaskOutput> writer(FrameEncoder<TaskOutput> encoder, ClientConnection client) {
    return new SseWriter<>(
        items, encoder, parts.settings().heartbeat(), parts.rules().keepAlive(), client);
  }

  private void weigh(TaskOutput item) {
    charge.replace(COPIES * MediaAnswer.heapBytes(item.json()));
  }

  private void recordUsage(int promptTokens) {
    received.watch().recordUsage(new Usage(promptTokens, 0, null), RequestWatch.ServingWorker.NONE);
  }

  @Override
  public void abort(DynamoException cause) {
    items.abort(cause);
  }

  @Override
  public void close() {
    items.close();
  }

  /** The failure that ended a stream. */
  private static final class Failure {
    private @Nullable DynamoException cause;
  }
}
