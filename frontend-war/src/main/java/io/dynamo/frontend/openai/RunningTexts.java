package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.RouteTrace;
import io.dynamo.frontend.openai.wire.LogprobsText;
import io.dynamo.frontend.postprocess.MessageGrammar;
import io.dynamo.frontend.postprocess.tools.ToolSchemas;
import io.dynamo.frontend.record.Placement;
import io.dynamo.frontend.sse.Inbox;
import io.dynamo.frontend.sse.WakeSignal;
import io.dynamo.frontend.sse.Window;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * The running generations of one request, one for each text, each with its own cancellation:
 * workers need not know of {@code n}, and each text migrates by itself. For one thread.
 */
final class RunningTexts implements AutoCloseable {
  private static final int INBOX_ITEMS = 64;

  private static final long MAX_ECHOED_CHARS = 16 << 20; // of all choices together

  private final AnswerContext answerContext;
  private final List<String> openings;
  private final List<TextStream> textStreams = new ArrayList<>();
  private final WakeSignal wakeSignal;
  private final Choices choices;
  private final RouteTrace trace = new RouteTrace(); // of the first text
  private final List<RouteTrace> trails = new ArrayList<>(); // of all that were started

  /**
   * @param own of this text alone; null when it shares the request's
   */
  private record TextStream(
      GenerateRequest request,
      RequestContext context,
      Inbox<EngineOutput> inbox,
      @Nullable Cancellation own) {}

  /**
   * @param window in which tokens leave together; null when each leaves at once
   * @throws ApiException with 400 when the prompts are too long to be repeated for each choice
   */
  RunningTexts(
      PreparedRequest prepared,
      TextPipe.Factory texts,
      Deadline deadline,
      RequestAccount account,
      WorkerGauges workers,
      @Nullable Window window,
      ScheduledExecutorService timer) {
    this.answerContext = AnswerContext.of(prepared);
    this.openings = openings(prepared);
    this.wakeSignal = new WakeSignal(timer);
    var fields = prepared.parsed().fields();
    var streams = new ArrayList<ChoiceStream>();
    var grammar = MessageGrammar.of(prepared.model().card().runtimeConfig());
    var options = prepared.parsed().message();
    var schemas = options == null ? ToolSchemas.NONE : ToolSchemas.of(options.tools());
    for (int i = 0; i < prepared.texts(); i++) {
      var request = prepared.request(i);
      var inbox =
          new Inbox<EngineOutput>(
              INBOX_ITEMS, wakeSignal, window, item -> !JoinedItems.isOpen(item));
      var vocabulary = prepared.model().text().tokens();
      var message =
          options == null
              ? null
              : grammar.assembler(
                  options, schemas, () -> MessageGrammar.promptEnd(vocabulary, request.tokenIds()));
      textStreams.add(stream(request, inbox, i, prepared.texts() == 1));
      streams.add(
          new ChoiceStream(
              i,
              inbox,
              texts.open(
                  options == null || message == null
                      ? vocabulary
                      : grammar.withMarkers(vocabulary, options),
                  request.stop(),
                  request.eosTokenIds(),
                  fields.includesStop(),
                  fields.skipsSpecialTokens()),
              message,
              request.tokenIds().length,
              window != null));
    }
    choices = new Choices(streams, prepared.parsed().texts(), wakeSignal, deadline, account);
    account.setTokenPace(new WorkerPace(workers, trails));
  }

  /**
   * The stream of one text. A single text runs under the request's own id and cancellation; each of
   * several gets the id with its number, and a child cancellation.
   */
  private TextStream stream(
      GenerateRequest request, Inbox<EngineOutput> inbox, int text, boolean only) {
    var whole = answerContext.context();
    if (only) {
      return new TextStream(request, whole, inbox, null);
    }
    var own = whole.cancellation().child();
    var context =
        new RequestContext(
            whole.id() + "-" + text, whole.metadata(), whole.headers(), whole.deadline(), own);
    return new TextStream(request, context, inbox, own);
  }

  AnswerContext answerContext() {
    return answerContext;
  }

  Choices choices() {
    return choices;
  }

  /** Sends the texts to workers. An exception of {@code dispatcher} ends all texts. */
  void start(Dispatcher dispatcher) {
    for (int i = 0; i < textStreams.size(); i++) {
      var text = textStreams.get(i);
      var own = i == 0 ? trace : new RouteTrace();
      trails.add(own);
      dispatcher
          .generate(answerContext.model(), text.request(), text.context(), own)
          .subscribe(text.inbox());
    }
  }

  /** The last worker of the first text, and the number of migrations of all texts. */
  RequestWatch.ServingWorker servingWorker() {
    var place = trace.latest();
    if (place == null) {
      return RequestWatch.ServingWorker.NONE;
    }
    int migrations = 0;
    for (var own : trails) {
      migrations += Math.max(0, own.legs() - 1);
    }
    return new RequestWatch.ServingWorker(place.worker().hex(), place.rank(), migrations);
  }

  /** The placement of the first text; null when no worker was chosen for it. */
  @Nullable Placement placement() {
    var first = trace.first();
    var prefill = trace.prefill();
    var latest = trace.latest();
    if (first == null || prefill == null || latest == null) {
      return null;
    }
    return new Placement(
        first.routedNanos(),
        first.queued(),
        first.overlapBlocks(),
        worker(prefill),
        worker(latest),
        Placement.Prompt.of(
            answerContext.prompts().getFirst().tokens(),
            answerContext.model().card().blockTokens()));
  }

  private static Placement.Worker worker(RouteTrace.Place place) {
    return new Placement.Worker(place.worker().value(), place.rank());
  }

  /** The text that precedes each generated text: the prompt, when the client wants it repeated. */
  List<String> openings() {
    return openings;
  }

  /** The texts of a prompt share one string. */
  private static List<String> openings(PreparedRequest prepared) {
    if (!prepared.parsed().echo()) {
      return Collections.nCopies(prepared.texts(), "");
    }
    var openings = new ArrayList<String>();
    long chars = 0;
    for (var prompt : prepared.prompts()) {
      var opening = prompt.asText(prepared.model().text().tokens());
      chars += (long) opening.length() * prepared.parsed().fields().choices();
      if (chars > MAX_ECHOED_CHARS) {
        throw new ApiException(
            new ApiError(
                400,
                "echo would repeat more than %d characters over all choices"
                    .formatted(MAX_ECHOED_CHARS),
                "echo_too_long",
                "echo",
                null));
      }
      openings.addAll(Collections.nCopies(prepared.parsed().texts(), opening));
    }
    return openings;
  }

  /** Storage for the log probabilities of each text, none when the client asked for none. */
  List<LogprobsText> logprobs(LogprobsText.Factory format, List<String> openings) {
    var fields = answerContext.fields();
    var alternatives = fields.output().logprobs();
    if (alternatives == null) {
      return List.of();
    }
    var vocabulary = answerContext.model().text().tokens();
    var tokens = new LogprobsText.Tokens(vocabulary::bytes, fields.tokensAsIds());
    var storage = new ArrayList<LogprobsText>();
    for (var opening : openings) {
      storage.add(format.open(tokens, alternatives, opening.codePointCount(0, opening.length())));
    }
    return storage;
  }

  /** The extension of the answer, null when the client asked for nothing of it. */
  @Nullable NvextText nvext(long receivedMillis, long receivedNanos) {
    return NvextText.of(
        answerContext.fields().nvext(),
        trace,
        new RequestTiming(
            receivedMillis,
            receivedNanos,
            trace,
            answerContext.prompts().getFirst().tokens().length,
            answerContext.model().card().blockTokens()));
  }

  /** Cancels the texts that have not ended. */
  @Override
  public void close() {
    wakeSignal.close();
    choices.cancel();
    for (var text : textStreams) {
      if (text.own() != null) {
        text.own().detach();
      }
    }
  }
}
