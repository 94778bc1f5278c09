package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.AnswerItems;
import io.dynamo.frontend.openai.wire.MediaAnswer;
import io.dynamo.frontend.openai.wire.RelayedAnswer;
import io.dynamo.frontend.record.Payload;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.SseWriter;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Has a worker write the texts of a request, and passes its chunks on. For one thread. */
final class RelayRun implements PreparedAnswer {
  private static final int COPIES = 3; // of an item: the worker's, its text, and what is written

  private final ServingParts parts;
  private final ReceivedRequest received;
  private final RelayWish wish;
  private final RelayedAnswer chunks;
  private final AnswerItems<TaskOutput> items;
  private @Nullable Payload recorded; // null when the answer is not recorded, or no more
  private long copied; // bytes of a streamed answer for its record
  private final ItemCharge charge;
  private boolean begun;
  private @Nullable DynamoException failure; // that ended a stream

  RelayRun(
      ServingParts parts,
      ReceivedRequest received,
      ServedModel model,
      RelayWish wish,
      RequestContext context) {
    this.parts = parts;
    this.received = received;
    this.charge = new ItemCharge(received);
    this.wish = wish;
    this.recorded = received.watch().payload();
    this.chunks =
        new RelayedAnswer(
            wish.form(),
            new RelayedAnswer.Head(
                context.id(),
                parts.execution().clock().instant().getEpochSecond(),
                model.name(),
                wish.choices()));
    this.items = parts.models().whole().tasks().open(model, wish.task(), context);
  }

  @Override
  public @Nullable DynamoException run(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    if (recorded != null) {
      recorded.generated();
    }
    try {
      if (wish.streams()) {
        writeEvents(answer, client);
      } else {
        writeWhole(answer);
      }
      return failure;
    } finally {
      recordUsage();
    }
  }

  private void writeWhole(TrackedAnswer answer) throws InterruptedException {
    var source = new RelayedItems(items, chunks, this::gather);
    while (!source.ended()) {
      var chunk = source.poll();
      if (chunk != null) {
        begin();
        chunks.add(chunk);
      } else if (!source.ended()) {
        source.await(Long.MAX_VALUE / 4); // the deadline ends it
      }
    }
    var json = chunks.write();
    if (recorded != null) {
      recorded.answer(json);
    }
    answer.json(json);
  }

  private void gather(TaskOutput item) {
    received.share().gather(COPIES * MediaAnswer.heapBytes(item.json()));
  }

  private void writeEvents(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    var settings = parts.settings();
    var source = new RelayedItems(items, chunks, this::weigh);
    source.awaitFirst(settings.firstItemWait().toNanos()); // a failure has its status line
    var frames = new RelayFrames(chunks, received.account()::errorFor, this::sent);
    var sse =
        new SseWriter<>(source, frames, settings.heartbeat(), parts.rules().keepAlive(), client);
    answer.events(out -> failure = sse.writeTo(out));
    var copy = recorded;
    if (copy != null) {
      if (failure == null && !answer.isBroken()) {
        copy.answer(chunks.write());
      }
      copy.gathered();
    }
  }

  private void sent(Map<String, @Nullable Object> chunk) {
    begin();
    var copy = recorded;
    if (copy != null) {
      copied += RelayedAnswer.textBytes(chunk);
      if (copy.grow(MediaAnswer.heapBytes(chunk), copied)) {
        chunks.add(chunk);
      } else {
        copy.gathered();
        recorded = null;
      }
    }
  }

  private void begin() {
    if (!begun) {
      begun = true;
      received.account().recordAnswerBegun();
    }
  }

  private void weigh(TaskOutput item) {
    charge.replace(COPIES * MediaAnswer.heapBytes(item.json()));
  }

  private void recordUsage() {
    var usage = chunks.usage();
    if (usage == null) {
      return; // the frontend has no tokens to count
    }
    received.account().recordReportedTokens(usage.promptTokens(), usage.completionTokens());
    if (usage.cachedTokens() != null) {
      received.account().recordCachedTokens(usage.cachedTokens());
    }
    received.watch().recordUsage(usage, RequestWatch.ServingWorker.NONE);
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
