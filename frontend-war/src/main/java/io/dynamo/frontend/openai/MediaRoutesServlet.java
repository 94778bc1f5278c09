package io.dynamo.frontend.openai;

import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;

/**
 * {@code POST /v1/images/generations}, {@code /v1/images/edits}, {@code /v1/videos}, {@code
 * /v1/videos/stream} and {@code /v1/audio/speech}. A servlet, as a stream of bytes that breaks off
 * cuts its connection.
 */
@WebServlet(
    urlPatterns = {
      MediaRoutesServlet.IMAGES,
      MediaRoutesServlet.IMAGE_EDITS,
      MediaRoutesServlet.VIDEOS,
      MediaRoutesServlet.VIDEO_FRAMES,
      MediaRoutesServlet.SPEECH
    },
    asyncSupported = true)
public class MediaRoutesServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  static final String IMAGES = "/v1/images/generations";
  static final String IMAGE_EDITS = "/v1/images/edits";
  static final String VIDEOS = "/v1/videos";
  static final String VIDEO_FRAMES = "/v1/videos/stream";
  static final String SPEECH = "/v1/audio/speech";

  private static final Map<String, Api> APIS =
      Map.of(
          IMAGES,
          TextService.IMAGES,
          IMAGE_EDITS,
          TextService.IMAGE_EDITS,
          VIDEOS,
          TextService.VIDEOS,
          VIDEO_FRAMES,
          TextService.VIDEO_FRAMES,
          SPEECH,
          TextService.SPEECH);

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient TextService texts;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    ServletRoutes.serve(texts, APIS, "", request, response);
  }
}
