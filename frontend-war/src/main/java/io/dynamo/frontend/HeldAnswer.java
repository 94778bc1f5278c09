package io.dynamo.frontend;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Holds back the body that is written on the container's thread, which would wait there for the
 * client: a refusal of an unknown path or method, at most somewhat longer than the request's head.
 * What is written after the request was {@linkplain CountingMark taken over} passes at once. For
 * one thread at a time.
 */
final class HeldAnswer extends HttpServletResponseWrapper {
  private final CountingMark mark;
  private final ByteArrayOutputStream held = new ByteArrayOutputStream(0);
  private final Body body = new Body();
  private @Nullable PrintWriter writer;

  HeldAnswer(HttpServletResponse response, CountingMark mark) {
    super(response);
    this.mark = mark;
  }

  /**
   * Writes the held answer to the client.
   *
   * @throws IOException when the client has left or does not read
   */
  void release() throws IOException {
    if (writer != null) {
      writer.flush();
    }
    var response = (HttpServletResponse) getResponse();
    if (held.size() > 0) {
      response.setContentLength(held.size());
      held.writeTo(response.getOutputStream());
    }
  }

  @Override
  public ServletOutputStream getOutputStream() throws IOException {
    return mark.isTaken() ? super.getOutputStream() : body;
  }

  @Override
  public PrintWriter getWriter() throws IOException {
    if (mark.isTaken()) {
      return super.getWriter();
    }
    if (writer == null) {
      writer = new PrintWriter(new OutputStreamWriter(body, StandardCharsets.UTF_8));
    }
    return writer;
  }

  @Override
  public void flushBuffer() throws IOException {
    if (mark.isTaken()) {
      super.flushBuffer();
    }
  }

  @Override
  public void resetBuffer() {
    held.reset();
    super.resetBuffer();
  }

  @Override
  public void reset() {
    held.reset();
    super.reset();
  }

  /** Holds bytes until the request is taken over. */
  private final class Body extends ServletOutputStream {
    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] from, int at, int length) throws IOException {
      if (mark.isTaken()) {
        getResponse().getOutputStream().write(from, at, length);
      } else {
        held.write(from, at, length);
      }
    }

    @Override
    public void flush() throws IOException {
      if (mark.isTaken()) {
        getResponse().getOutputStream().flush();
      }
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setWriteListener(WriteListener listener) {
      throw new IllegalStateException("refusals are written without waiting");
    }
  }
}
