package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.config.frontend.FrontendSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.Generation;
import io.dynamo.frontend.media.MediaIntake;
import io.dynamo.frontend.media.PreparedMedia;
import io.dynamo.frontend.openai.wire.Continuation;
import io.dynamo.frontend.openai.wire.InnerJson;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.frontend.openai.wire.RedactedJson;
import io.dynamo.frontend.postprocess.structure.StructuralTags;
import io.dynamo.frontend.watch.Stage;
import io.dynamo.model.ModelCard;
import io.dynamo.request.RequestContext;
import io.dynamo.trace.TraceContext;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Prepares an HTTP request for workers: reads and checks it, waits for admission, renders and
 * tokenises its prompts. Safe for concurrent use; its callers block.
 */
final class Intake {
  private static final String SCALING = "mm_processor_kwargs";

  private final FrontendSettings settings;
  private final EdgeRules rules;
  private final ModelCatalog catalog;
  private final Preprocessor preprocessor;
  private final Continuations continuations;
  private final MediaIntake media;

  Intake(
      FrontendSettings settings,
      EdgeRules rules,
      ModelCatalog catalog,
      Preprocessor preprocessor,
      MediaIntake media,
      Continuations continuations) {
    this.media = media;
    this.continuations = continuations;
    this.settings = settings;
    this.rules = rules;
    this.catalog = catalog;
    this.preprocessor = preprocessor;
  }

  /**
   * Reads, checks and tokenises a request. The result does not hold the body.
   *
   * @throws ApiException when the request is at fault, or there is no room for it
   * @throws DynamoException when it ends before it is ready
   */
  PreparedRequest take(ReceivedRequest received) throws InterruptedException {
    var http = received.http();
    var body =
        RequestBody.read(
            http.body(),
            http.contentBytes(),
            new RequestBody.Bounds(
                settings.bodyLimitBytes(), "dynamo.frontend.body-limit", settings.uploadTimeout()),
            received.deadline(),
            received.share());
    received.account().bodyArrived();
    var watch = received.watch();
    try (var stage = watch.stages().begin(Stage.PREPROCESS, received.id(), watch.context())) {
      return prepare(received, body, stage.span().context());
    }
  }

  /**
   * @param span the parent of the spans of template and tokenizer
   */
  private PreparedRequest prepare(
      ReceivedRequest received, RequestBody arrived, @Nullable TraceContext span)
      throws InterruptedException {
    var api = received.api();
    var headers = received.http().headers();
    var cost = api.cost(received.http().contentType(), arrived);
    received.share().chargeComplete(cost.workBytes());
    var body = rules.applyTo(api.parse(received.http().contentType(), arrived.drain()), api);
    var payload = received.watch().payload();
    if (payload != null && api.isRecorded()) {
      payload.request(RedactedJson.write(body, payload.maxBytes()));
    }
    InnerJson.addTo(cost, body);
    received.share().chargeComplete(cost.keptBytes());
    var metadata = rules.metadata(headers);
    if (body instanceof ObjectNode request && !request.hasNonNull("model")) {
      var chosen = api.modelIfOmitted(able(api));
      if (chosen != null) {
        request.put("model", chosen);
      }
    }
    var name = JsonBody.model(body);
    var found = found(received, name, api.asksForStream(body));
    var continuation =
        api instanceof ResponsesApi
            ? continuations.open(
                body, !api.asksForPromptOnly(), received.deadline(), cost, received.share())
            : Continuation.NONE;
    long copied = continuation.heldBytes(); // until the answer is stored
    received.share().chargeComplete(cost.keptBytes() + copied);
    var read = parse(api, body, headers, received.id(), continuation);
    var model = choose(found, api, name, read, headers);
    var parsed =
        model.card().takesBodies() && !api.takesBodies()
            ? api.relayed(body, read, model.card())
            : read.forModel(model.card());
    received.account().reserveTexts(parsed.prompts() * parsed.texts());
    received
        .account()
        .enter(
            model.workers(),
            parsed.fields().nvext().routing().urgency(),
            received.share(),
            received.deadline(),
            received.cancellation());
    var context =
        new RequestContext(
            received.id(),
            metadata,
            received.watch().forwardedHeaders(CallHeaders.forwarded(headers)),
            received.deadline(),
            received.cancellation());
    received.share().chargeComplete(cost.workBytes() + copied);
    var prompts = tokenise(received, parsed, model, cost.length(), span);
    int tokens = 0;
    for (var prompt : prompts) {
      if (!api.asksForPromptOnly() && parsed.relay() == null) {
        WorkerRequests.check(parsed.fields(), model, prompt, api.promptField());
      }
      tokens += prompt.tokens().length;
    }
    var guided = GuidedCalls.of(parsed, model, prompts.getFirst());
    var prepared = media(received, parsed, model, prompts);
    received
        .share()
        .chargeComplete(
            runningBytes(cost, guided, prompts, tokens)
                + sentBytes(cost, guided, prompts, tokens)
                + prepared.heldBytes() * guided.texts()
                + copied);
    received.account().setPromptTokens(tokens);
    var agent = AgentContext.of(headers, parsed.trigger());
    received.watch().recordAgent(AgentContext.recorded(agent));
    return new PreparedRequest(model, guided, prompts, prepared, agent, context);
  }

  /** Fetches and measures the media of the prompt, which is one where there are media. */
  private PreparedMedia media(
      ReceivedRequest received,
      Api.ParsedRequest parsed,
      ServedModel model,
      List<PreparedPrompt> prompts)
      throws InterruptedException {
    if (parsed.media().isEmpty() || received.api().asksForPromptOnly()) {
      return PreparedMedia.NONE;
    }
    var prepared =
        media.prepare(
            new MediaIntake.PromptMedia(
                parsed.media(),
                model.card(),
                model.text().images(),
                prompts.getFirst().tokens(),
                !(parsed.fields().passedOn().get(SCALING) instanceof Map<?, ?> scaling)
                    || scaling.isEmpty(),
                received.deadline(),
                received.cancellation(),
                received.share()));
    var expanded = prepared.expanded();
    if (expanded != null) {
      TokenBudget.of(model.card())
          .check(
              expanded.tokenIds().length,
              parsed.fields().stop().maxTokens(),
              received.api().promptField());
    }
    return prepared;
  }

  /** Reads and checks a body; routing options of headers win over those of the body. */
  private Api.ParsedRequest parse(
      Api api, JsonNode body, Map<String, String> headers, String id, Continuation continuation) {
    var read =
        api instanceof ResponsesApi responses
            ? responses.read(body, continuation)
            : api.read(body, headers, id);
    var nvext = CallHeaders.overriding(read.fields().nvext(), rules.routing(headers));
    return read.with(read.fields().with(nvext));
  }

  /**
   * The tokens of a conversation of a request that was answered.
   *
   * @param bodyBytes about as many as the conversation has
   * @throws ApiException when the model could not take another token
   */
  PreparedPrompt tokeniseNext(
      ReceivedRequest received, ParsedChat next, ServedModel model, long bodyBytes)
      throws InterruptedException {
    var prompt = tokenise(received, next, model, bodyBytes, null).getFirst();
    TokenBudget.of(model.card()).check(prompt.tokens().length, 1, received.api().promptField());
    return prompt;
  }

  private List<PreparedPrompt> tokenise(
      ReceivedRequest received,
      Api.ParsedRequest parsed,
      ServedModel model,
      long bodyBytes,
      @Nullable TraceContext span)
      throws InterruptedException {
    var text =
        new BoundedText(
            new WatchedText(model.text(), received.watch().stages(), received.id(), span),
            TokenBudget.of(model.card()),
            received.api().promptField());
    return preprocessor.run(
        text,
        it -> parsed.prepare(it, rules.hidesTools(model.card())),
        bodyBytes,
        received.deadline(),
        received.cancellation());
  }

  /**
   * The bytes that a request holds while it runs: its tokens, and its body without the text of the
   * prompts, unless the answer repeats that.
   */
  private static long runningBytes(
      JsonCost cost, Api.ParsedRequest parsed, List<PreparedPrompt> prompts, long tokens) {
    long chars = 0;
    for (var prompt : prompts) {
      chars += prompt.text() == null ? 0 : prompt.text().length();
    }
    long kept = Integer.BYTES * tokens;
    var nvext = parsed.fields().nvext();
    if (nvext.annotations().isEmpty() && !nvext.followUp()) {
      kept += Math.max(0, cost.keptBytes() - chars);
    } else {
      kept += cost.keptBytes() + 2 * chars;
    }
    var guided = parsed.fields().sampling().guided();
    var options = parsed.message();
    if (guided != null && guided.structuralTag() != null && options != null) {
      kept += (long) StructuralTags.TOOL_BYTES * options.tools().size();
    }
    return parsed.echo() ? kept + 2 * chars * parsed.texts() : kept;
  }

  /**
   * The bytes of the requests to workers beyond the first: each text has a request of its own, with
   * the tokens of its prompt and the media and guided form of the body.
   */
  private static long sentBytes(
      JsonCost cost, Api.ParsedRequest parsed, List<PreparedPrompt> prompts, long tokens) {
    boolean sendsMore =
        !parsed.passedOn().isEmpty()
            || !parsed.media().isEmpty()
            || parsed.fields().sampling().guided() != null;
    long chars = 0;
    for (var prompt : prompts) {
      chars += prompt.text() == null ? 0 : prompt.text().length();
    }
    long each = sendsMore ? Math.max(0, cost.keptBytes() - chars) : 0;
    return (parsed.texts() - 1) * (Integer.BYTES * tokens + each);
  }

  /**
   * Chooses the set of workers that serves the request.
   *
   * @param found null when no model has that name
   * @throws ApiException when no set has the API that is asked for, or none is ready any more
   */
  private ServedModel choose(
      @Nullable ServedModel found,
      Api api,
      String name,
      Api.ParsedRequest parsed,
      Map<String, String> headers) {
    var worker = parsed.fields().nvext().routing().worker();
    var query =
        new ModelCatalog.Query(
            api.modelTypes(),
            worker == null ? null : new InstanceId(worker.longValue()),
            headers.get(Generation.SESSION_HEADER));
    var model = found == null ? null : catalog.choose(name, query).orElse(null);
    if (model == null) {
      throw new ApiException(
          found != null && catalog.find(name).isEmpty() && catalog.isKnown(name)
              ? TextService.notReady(name)
              : ApiError.modelNotFound(name));
    }
    return model;
  }

  /** The names of the models that could take a request to {@code api}. */
  private List<String> able(Api api) {
    return catalog.models().stream()
        .filter(
            model -> catalog.sets(model.name()).stream().anyMatch(set -> serves(set.card(), api)))
        .map(ServedModel::name)
        .toList();
  }

  private static boolean serves(ModelCard card, Api api) {
    return ModelCatalog.Query.isAnyOf(api.modelTypes(), card)
        && card.takesBodies() == api.takesBodies(); // such models have no tokenizer here
  }

  /**
   * Finds the named model and sets it for metrics and logs; null when it does not exist.
   *
   * @throws ApiException when it has no worker now
   */
  private @Nullable ServedModel found(ReceivedRequest received, String name, boolean streams) {
    var found = catalog.find(name).orElse(null);
    received.account().setStreaming(streams);
    received.watch().setModel(found == null ? null : found.name(), streams);
    if (found != null) {
      received.account().setModel(found.name(), streams);
    } else if (catalog.isKnown(name)) {
      throw new ApiException(TextService.notReady(name));
    }
    return found;
  }
}
