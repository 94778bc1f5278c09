package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.EdgeFilter;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.frontend.VirtualThreadRunner;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.kserve.ModelDirectory;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.kserve.ServerDescription;
import io.dynamo.frontend.openai.wire.KserveForm;
import io.dynamo.frontend.openai.wire.KserveLookups;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** KServe's REST routes, which lie below {@code /v2}. */
@WebServlet(
    urlPatterns = {KserveServlet.ROOT, KserveServlet.ROOT + "/*"},
    asyncSupported = true)
public class KserveServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  static final String ROOT = "/v2";

  private static final Pattern PARAMETERS = Pattern.compile(";[^/]*");
  private static final String JSON_BYTES = "inference-header-content-length";

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient TextService texts;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient ModelDirectory models;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient RequestAdmission admission;

  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient VirtualThreadRunner runner;

  @Inject
  void serveOn(DynamoRuntime runtime, FailureMeters failures) {
    runner = new VirtualThreadRunner(runtime.blocking(), failures);
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    var path = path(request);
    var route = path == null ? null : KserveRoute.of(path);
    var method = request.getMethod();
    if (route == null) {
      EdgeFilter.answer(request, response, ApiError.routeNotFound(method, request.getRequestURI()));
    } else if (!method.equals(route.method())) {
      response.setHeader("Allow", route.method());
      EdgeFilter.answer(
          request,
          response,
          ApiError.of(405, method + " is not allowed here; use " + route.method()));
    } else {
      serve(route, request, response);
    }
  }

  /** The path below the root as it came, without parameters; null when the root is escaped. */
  private static @Nullable String path(HttpServletRequest request) {
    var path = PARAMETERS.matcher(request.getRequestURI()).replaceAll("");
    return path.startsWith(ROOT) ? path.substring(ROOT.length()) : null;
  }

  private void serve(KserveRoute route, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    switch (route) {
      case KserveRoute.Infer(var model) -> {
        var jsonBytes = request.getHeader(JSON_BYTES);
        if (jsonBytes != null && !jsonBytes.matches("[0-9]{1,9}")) {
          EdgeFilter.answer(
              request,
              response,
              ApiError.of(400, "Inference-Header-Content-Length is no number of bytes"));
          return;
        }
        var form =
            new KserveForm.Rest(model, jsonBytes == null ? null : Integer.valueOf(jsonBytes));
        generate(
            models.takesTensors(model.name()) ? new TensorApi(form) : new KserveApi(form),
            model,
            request,
            response);
      }
      case KserveRoute.Generate(var model, var stream) -> {
        if (models.takesTensors(model.name())) {
          EdgeFilter.answer(
              request,
              response,
              ApiError.of(
                  400,
                  "Model '%s' takes tensors, and this route is for texts; ask `infer`"
                      .formatted(ApiError.shown(model.name()))));
        } else {
          generate(new KserveApi(new KserveForm.Generate(model, stream)), model, request, response);
        }
      }
      case KserveRoute.Lookup lookup ->
          runner.serve(request, response, () -> look(lookup, request, response));
    }
  }

  private void generate(
      Api api, NamedModel model, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    CountingMark.take(request);
    var call = TextCalls.incoming(request, TextCalls.headers(request));
    var async = request.startAsync(request, response);
    async.setTimeout(0); // reads and writes have limits of their own
    long begin = System.nanoTime();
    var answer =
        new KserveAnswer(
            new AnswerWriter(response, async::complete),
            error ->
                models.recordInference(model.name(), error == null, System.nanoTime() - begin));
    try {
      texts.serve(api, call, answer);
    } catch (RuntimeException | Error e) {
      async.complete();
      throw e;
    }
  }

  private void look(
      KserveRoute.Lookup lookup, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    byte[] body;
    try {
      body = body(lookup, response);
    } catch (ApiException refused) {
      EdgeFilter.answer(request, response, refused.error());
      return;
    }
    response.setContentType("application/json");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }

  private byte[] body(KserveRoute.Lookup lookup, HttpServletResponse response) {
    return switch (lookup) {
      case KserveRoute.Live() -> KserveLookups.flag("live", true);
      case KserveRoute.Ready() ->
          ready(null, admission.isOpen() && models.isServerReady(), response);
      case KserveRoute.ModelReady(var model) ->
          ready(model, admission.isOpen() && models.isReady(model), response);
      case KserveRoute.Server() -> KserveLookups.server(ServerDescription.OURS);
      case KserveRoute.Model(var model) -> KserveLookups.model(models.describe(model));
      case KserveRoute.Config(var model) -> KserveLookups.config(models.describe(model));
      case KserveRoute.Statistics(var model) -> KserveLookups.statistics(models.statistics(model));
      case KserveRoute.Index() -> KserveLookups.index(models.list(false));
    };
  }

  private byte[] ready(@Nullable NamedModel model, boolean ready, HttpServletResponse response) {
    if (!ready) {
      response.setStatus(model == null || models.isKnown(model) ? 503 : 404);
    }
    return model == null
        ? KserveLookups.flag("ready", ready)
        : KserveLookups.modelReady(model.name(), ready);
  }
}
