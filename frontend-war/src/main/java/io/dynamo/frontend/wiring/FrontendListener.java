package io.dynamo.frontend.wiring;

import io.dynamo.config.Role;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.admission.Admission;
import io.dynamo.frontend.openai.ChatCompletions;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.inject.Inject;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;
import java.lang.System.Logger.Level;
import java.time.Duration;

/** Starts the frontend's role with its web module, and drains it before the module goes. */
@WebListener
public class FrontendListener implements ServletContextListener {
  private static final System.Logger LOG = System.getLogger(FrontendListener.class.getName());
  private static final Duration LAST_FRAMES = Duration.ofSeconds(2);

  @Inject private DynamoRuntime runtime;
  @Inject private Admission admission;
  @Inject private ChatCompletions completions;

  @Override
  public void contextInitialized(ServletContextEvent event) {
    var server = runtime.settings().server();
    if (!server.roles().contains(Role.FRONTEND)) {
      return;
    }
    admission.open();
    LOG.log(
        Level.INFO,
        "frontend started; as soon as a model is listed by"
            + " http://{0}:{1}/v1/models, ask it:\n"
            + "  curl -N http://{0}:{1}/v1/chat/completions -H ''content-type: application/json''"
            + " -d ''{2}''",
        server.httpHost(),
        Integer.toString(server.httpPort()),
        "{\"model\":\"NAME\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}");
  }

  @Override
  public void contextDestroyed(ServletContextEvent event) {
    try {
      int left = admission.drain(runtime.settings().server().drainTimeout());
      if (left > 0) {
        LOG.log(Level.WARNING, "{0} requests did not end within the drain and are cut", left);
        completions.abortAll(
            new EngineFailedException(
                ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the server is stopping", null));
        admission.drain(LAST_FRAMES);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
