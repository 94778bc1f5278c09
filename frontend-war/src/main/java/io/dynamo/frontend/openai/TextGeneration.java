package io.dynamo.frontend.openai;

import io.dynamo.config.frontend.DispatchEvents;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.BlockFormat;
import io.dynamo.frontend.openai.wire.ChunkFormat;
import io.dynamo.frontend.openai.wire.TokenFormat;
import io.dynamo.frontend.record.Payload;
import io.dynamo.frontend.sse.ClientConnection;
import io.dynamo.frontend.sse.FrameEncoder;
import io.dynamo.frontend.sse.SseWriter;
import org.jspecify.annotations.Nullable;

/**
 * Generates the texts of one request and writes them as its answer. Holds nothing of the request's
 * body that the answer does not need. For one thread.
 */
final class TextGeneration implements PreparedAnswer {
  private final ServingParts parts;
  private final ReceivedRequest received;
  private final RunningTexts texts;
  private final AnswerFormat format;
  private final @Nullable FollowUpPrefill followUp;
  private final @Nullable Payload payload;
  private final @Nullable AnswerCopy copy;
  private @Nullable DynamoException streamFailure;
  private volatile boolean aborted;

  /**
   * @param recorded writes the answer for a record; null when none is left
   */
  TextGeneration(
      ServingParts parts,
      ReceivedRequest received,
      PreparedRequest prepared,
      AnswerFormat format,
      @Nullable AnswerFormat recorded) {
    this.parts = parts;
    this.received = received;
    this.texts =
        new RunningTexts(
            prepared,
            parts.pipes(),
            received.deadline(),
            received.account(),
            parts.models().gauges(),
            parts.windows().of(prepared.model().name()),
            parts.execution().timer());
    this.format = format;
    this.followUp =
        FollowUpPrefill.of(
            prepared, new AnsweredMessage(new GatheredAnswer(received.share()::gather)));
    if (followUp != null) {
      texts.choices().observe(followUp::observe);
    }
    this.payload = recorded == null ? null : received.watch().payload();
    if (payload == null || recorded == null || !streams()) {
      this.copy = null;
    } else {
      this.copy = new AnswerCopy(payload, whole(recorded, null), texts.openings());
      texts.choices().observe(copy::add);
    }
  }

  private boolean streams() {
    return texts.answerContext().fields().stream().events();
  }

  @Override
  public @Nullable FollowUpPrefill followUp() {
    return followUp;
  }

  @Override
  public @Nullable DynamoException run(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    var choices = texts.choices();
    try (var _ =
        received
            .cancellation()
            .onCancel(level -> choices.abort(new CancelledException("the client left")))) {
      if (!aborted) {
        texts.start(parts.models().dispatcher());
      }
      if (payload != null) {
        payload.generated();
      }
      if (streams()) {
        writeEvents(answer, client);
      } else {
        writeWhole(answer);
      }
      return streamFailure;
    } finally {
      recordUsage();
    }
  }

  @Override
  public void abort(DynamoException cause) {
    aborted = true;
    texts.choices().abort(cause);
  }

  private void recordUsage() {
    var usage = texts.choices().usage();
    var cached = usage.cachedTokens();
    if (cached != null) {
      received.account().recordCachedTokens(cached);
    }
    var watch = received.watch();
    watch.recordUsage(usage, texts.servingWorker());
    if (watch.leavesRecord()) {
      var placement = texts.placement();
      if (placement != null) {
        watch.recordPlacement(placement);
      }
    }
    watch
        .stages()
        .recordDetokenization(texts.choices().detokenizeNanos(), usage.completionTokens());
  }

  private void writeWhole(TrackedAnswer answer) throws InterruptedException {
    var whole = whole(format, texts.nvext(received.receivedMillis(), received.receivedNanos()));
    new GatheredAnswer(received.share()::gather).drain(texts.choices(), whole::add);
    var json = whole.write();
    if (payload != null) {
      payload.answer(json);
    }
    answer.json(json);
  }

  private WholeAnswer whole(AnswerFormat form, @Nullable NvextText nvext) {
    return switch (form) {
      case ChunkFormat chunks -> wholeChoices(chunks, nvext);
      case BlockFormat blocks -> blockEncoder(blocks).whole();
      case TokenFormat tokens -> tokenEncoder(tokens).whole(texts.openings().size());
    };
  }

  private WholeAnswer wholeChoices(ChunkFormat chunks, @Nullable NvextText nvext) {
    var context = texts.answerContext();
    var openings = texts.openings();
    var choices = new UnaryAnswer(openings, texts.logprobs(chunks::logprobs, openings), nvext);
    return new WholeAnswer() {
      @Override
      public void add(ChoiceDelta delta) {
        choices.add(delta);
      }

      @Override
      public byte[] write() {
        return chunks.unary(
            choices.best(context.texts(), context.fields().choices()),
            texts.choices().hasReason() ? texts.choices().usage() : null,
            nvext == null ? null : nvext.whole());
      }
    };
  }

  private void writeEvents(TrackedAnswer answer, ClientConnection client)
      throws InterruptedException {
    var choices = texts.choices();
    var settings = parts.settings();
    if (choices.await(settings.firstItemWait().toNanos())) {
      choices.peek(); // an early failure still has its status line
    }
    var encoder =
        switch (format) {
          case ChunkFormat chunks -> chunkEncoder(chunks);
          case BlockFormat blocks -> blockEncoder(blocks);
          case TokenFormat tokens -> tokenEncoder(tokens);
        };
    var sse =
        new SseWriter<>(choices, encoder, settings.heartbeat(), parts.rules().keepAlive(), client);
    answer.events(out -> streamFailure = sse.writeTo(out));
    if (copy != null && streamFailure == null && !answer.isBroken()) {
      copy.complete();
    }
  }

  private BlockEncoder blockEncoder(BlockFormat blocks) {
    return new BlockEncoder(blocks, texts.choices(), new GatheredAnswer(received::gatherStreamed));
  }

  private TokenEncoder tokenEncoder(TokenFormat tokens) {
    return new TokenEncoder(
        tokens,
        texts.choices(),
        texts.answerContext().fields().stream(),
        texts.logprobs(tokens::logprobs, texts.openings()));
  }

  private FrameEncoder<ChoiceDelta> chunkEncoder(ChunkFormat chunks) {
    var openings = texts.openings();
    var context = texts.answerContext();
    var fields = context.fields();
    var wanted = parts.rules().dispatches();
    return new ChunkEncoder(
        chunks,
        texts.choices(),
        fields.stream(),
        openings,
        texts.logprobs(chunks::logprobs, openings),
        texts.nvext(received.receivedMillis(), received.receivedNanos()),
        wanted.equals(DispatchEvents.NONE)
            ? null
            : new DispatchEncoder(
                wanted, openings.size(), new GatheredAnswer(received.share()::gather)),
        Annotations.prelude(fields.nvext(), context.context().id(), context.prompts().getFirst()));
  }

  /** Cancels the texts that have not ended. */
  @Override
  public void close() {
    texts.close();
  }
}
