package io.dynamo.frontend.pages;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the answer of a module in memory: its status, its type and its body, up to a limit. Other
 * headers are dropped, save those that {@link #KEPT} names. For one thread.
 */
final class CapturedAnswer extends HttpServletResponseWrapper {
  /** Headers of these names reach the client. */
  private static final Set<String> KEPT = Set.of("allow", "retry-after");

  private final Body body;
  private int status = SC_OK;
  private @Nullable String type;
  private @Nullable String encoding;
  private @Nullable PrintWriter writer;

  /**
   * @param response gets the headers that are kept; nothing else
   * @param maxBytes of the body
   */
  CapturedAnswer(HttpServletResponse response, int maxBytes) {
    super(response);
    this.body = new Body(maxBytes);
  }

  /**
   * Completes the body.
   *
   * @throws IOException when the module wrote more than the limit
   */
  void finish() throws IOException {
    if (writer != null) {
      writer.flush();
    }
    if (body.isTooLong) {
      throw new IOException("the page is longer than %d bytes".formatted(body.maxBytes));
    }
  }

  /**
   * Returns the body, and keeps nothing of it.
   *
   * @throws IOException when the module wrote more than the limit
   */
  byte[] take() throws IOException {
    finish();
    var bytes = body.bytes.toByteArray();
    body.bytes = new ByteArrayOutputStream(0);
    return bytes;
  }

  @Override
  public int getStatus() {
    return status;
  }

  @Override
  public void setStatus(int status) {
    this.status = status;
  }

  @Override
  public void sendError(int status) {
    this.status = status;
  }

  @Override
  public void sendError(int status, String message) {
    this.status = status;
  }

  @Override
  public void sendRedirect(String location) {
    status = SC_NOT_FOUND; // no page here redirects
  }

  /** The type with its character set; null when the module set none. */
  @Override
  public @Nullable String getContentType() {
    return type == null || encoding == null || type.toLowerCase(Locale.ROOT).contains("charset=")
        ? type
        : type + ";charset=" + encoding;
  }

  @Override
  public void setContentType(String type) {
    this.type = type;
  }

  @Override
  public String getCharacterEncoding() {
    if (encoding != null) {
      return encoding;
    }
    var given = Objects.requireNonNullElse(type, "");
    int at = given.toLowerCase(Locale.ROOT).indexOf("charset=");
    return at < 0
        ? StandardCharsets.UTF_8.name()
        : given.substring(at + "charset=".length()).replace("\"", "").split(";", 2)[0].strip();
  }

  @Override
  public void setCharacterEncoding(String encoding) {
    this.encoding = encoding;
  }

  @Override
  public ServletOutputStream getOutputStream() {
    return body;
  }

  @Override
  public PrintWriter getWriter() {
    if (writer == null) {
      writer =
          new PrintWriter(new OutputStreamWriter(body, Charset.forName(getCharacterEncoding())));
    }
    return writer;
  }

  @Override
  public boolean isCommitted() {
    return false;
  }

  @Override
  public void flushBuffer() {}

  @Override
  public void reset() {
    resetBuffer();
    status = SC_OK;
  }

  @Override
  public void resetBuffer() {
    body.bytes.reset();
  }

  @Override
  public void setBufferSize(int size) {}

  @Override
  public void setContentLength(int length) {}

  @Override
  public void setContentLengthLong(long length) {}

  @Override
  public void setLocale(Locale locale) {}

  @Override
  public void setHeader(String name, String value) {
    if (name.equalsIgnoreCase("content-type")) {
      type = value;
    } else if (KEPT.contains(name.toLowerCase(Locale.ROOT))) {
      super.setHeader(name, value);
    }
  }

  @Override
  public void addHeader(String name, String value) {
    setHeader(name, value);
  }

  @Override
  public void setIntHeader(String name, int value) {
    setHeader(name, Integer.toString(value));
  }

  @Override
  public void addIntHeader(String name, int value) {
    setHeader(name, Integer.toString(value));
  }

  @Override
  public void setDateHeader(String name, long date) {}

  @Override
  public void addDateHeader(String name, long date) {}

  @Override
  public Collection<String> getHeaders(String name) {
    return List.of();
  }

  /** Drops bytes beyond the limit. */
  private static final class Body extends ServletOutputStream {
    private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int maxBytes;
    private boolean isTooLong;

    Body(int maxBytes) {
      this.maxBytes = maxBytes;
    }

    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] from, int at, int length) {
      isTooLong |= length > maxBytes - bytes.size();
      if (!isTooLong) {
        bytes.write(from, at, length);
      }
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setWriteListener(WriteListener listener) {
      throw new IllegalStateException("the page is written without waiting");
    }
  }
}
