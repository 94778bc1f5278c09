package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.DynamoException;
import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.dispatch.RouteTrace;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.request.RequestContext;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Lets a worker read the conversation with the answer that was just given, and generate one token
 * that nobody gets, so that its cache has the beginning of the client's next prompt. Begins when
 * the request has ended; a failure harms nobody. For the request's thread.
 */
final class FollowUpPrefill {
  private static final System.Logger LOG = System.getLogger(FollowUpPrefill.class.getName());

  private final ParsedChat chat;
  private final ServedModel model;
  private final GenerateRequest answered;
  private final RequestContext context;
  private final AnsweredMessage answer;

  private FollowUpPrefill(PreparedRequest request, ParsedChat chat, AnsweredMessage answer) {
    this.chat = chat;
    this.model = request.model();
    this.answered = request.request(0);
    this.context = request.context();
    this.answer = answer;
  }

  /**
   * The follow-up of a request; null when it asks for none, or has several answers, a prompt
   * without a template, or media.
   */
  static @Nullable FollowUpPrefill of(PreparedRequest request, AnsweredMessage answer) {
    var nvext = request.parsed().fields().nvext();
    return nvext.followUp()
            && nvext.tokens() == null
            && request.parsed() instanceof ParsedChat chat
            && chat.media().isEmpty()
            && !chat.request().continueFinal()
            && request.texts() == 1
        ? new FollowUpPrefill(request, chat, answer)
        : null;
  }

  /** Gathers the answer. */
  void observe(ChoiceDelta delta) {
    answer.add(delta);
  }

  /** Sends the follow-up and waits for its end. */
  void run(
      ServingParts parts, ReceivedRequest received, Cancellation cancellation, Deadline deadline) {
    var message = answer.message();
    if (message == null) {
      return;
    }
    try {
      long bytes = (long) Integer.BYTES * answered.tokenIds().length + answer.length();
      var prompt = parts.intake().tokeniseNext(received, chat.answered(message), model, bytes);
      var next =
          new RequestContext(
              context.id() + "-next",
              context.metadata(),
              context.headers(),
              deadline,
              cancellation);
      var output =
          parts
              .models()
              .dispatcher()
              .generate(model, request(prompt.tokens()), next, new RouteTrace());
      UnreadOutput.await(output, cancellation, deadline);
    } catch (ApiException | DynamoException | ExecutionException | TimeoutException e) {
      LOG.log(Level.DEBUG, "the next turn of a chat was not prefilled", FailureShape.of(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private GenerateRequest request(int[] tokens) {
    return new GenerateRequest(
        answered.model(),
        tokens,
        new StopConditions(1, List.of(), List.of(), null, false),
        SamplingOptions.DEFAULTS,
        OutputOptions.DEFAULTS,
        answered.eosTokenIds(),
        answered.cardChecksum(),
        List.of(),
        answered.routing(),
        answered.extraArgs(),
        Handoff.NONE,
        PassedOn.NONE);
  }
}
