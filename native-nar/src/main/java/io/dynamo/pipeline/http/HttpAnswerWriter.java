package io.dynamo.pipeline.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Writes the answer to one request. Blocks on the client's socket, so it belongs on a thread that
 * may block; at most one piece of a file is in memory at a time.
 */
final class HttpAnswerWriter {
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final int PIECE_BYTES = 64 * 1024;

  private final Channel channel;
  private final Duration stall;
  private final boolean keepAlive;

  /**
   * @param stall how long the client may leave written bytes unread
   * @param keepAlive whether the client keeps the connection for another request
   */
  HttpAnswerWriter(Channel channel, Duration stall, boolean keepAlive) {
    this.channel = channel;
    this.stall = stall;
    this.keepAlive = keepAlive;
  }

  /**
   * Writes an answer.
   *
   * @return whether the connection can carry another request
   */
  boolean write(HttpAnswer answer) throws InterruptedException {
    return switch (answer.body()) {
      case HttpAnswer.Body.Bytes _ ->
          hasTaken(channel.writeAndFlush(whole(answer, keepAlive))) && keepAlive;
      case HttpAnswer.Body.File file -> write(answer, file.path()) && keepAlive;
    };
  }

  private boolean write(HttpAnswer answer, Path path) throws InterruptedException {
    try (var in = Files.newInputStream(path)) {
      long size = Files.size(path);
      var head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status(answer.status()));
      describe(head.headers(), answer, size, keepAlive);
      return hasTaken(channel.writeAndFlush(head))
          && pieces(in, size)
          && hasTaken(channel.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT));
    } catch (IOException e) {
      System.getLogger(HttpAnswerWriter.class.getName())
          .log(System.Logger.Level.WARNING, "cannot send " + path, e);
      return false; // the client sees a connection that ends early
    }
  }

  /** Sends exactly {@code size} bytes. */
  private boolean pieces(InputStream in, long size) throws IOException, InterruptedException {
    for (long left = size; left > 0; ) {
      var piece = in.readNBytes((int) Math.min(PIECE_BYTES, left));
      if (piece.length == 0) {
        throw new IOException("the file lost %d bytes while it was sent".formatted(left));
      }
      if (!hasTaken(channel.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(piece))))) {
        return false;
      }
      left -= piece.length;
    }
    return true;
  }

  private boolean hasTaken(ChannelFuture written) throws InterruptedException {
    return written.await(stall.toMillis()) && written.isSuccess();
  }

  FullHttpResponse whole(HttpAnswer answer, boolean again) {
    var content =
        switch (answer.body()) {
          case HttpAnswer.Body.Bytes bytes -> bytes.content();
          case HttpAnswer.Body.File file ->
              throw new IllegalArgumentException(file.path() + " is sent in pieces");
        };
    var response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, status(answer.status()), Unpooled.wrappedBuffer(content));
    describe(response.headers(), answer, content.length, again);
    return response;
  }

  private static HttpResponseStatus status(int code) {
    return HttpResponseStatus.valueOf(code);
  }

  private static void describe(HttpHeaders headers, HttpAnswer answer, long size, boolean again) {
    if (answer.contentType() != null) {
      headers.set(HttpHeaderNames.CONTENT_TYPE, answer.contentType());
    }
    answer.headers().forEach((name, value) -> headers.set(name, value));
    headers.set(HttpHeaderNames.CONTENT_LENGTH, size);
    headers.set(HttpHeaderNames.DATE, DATE.format(Instant.now()));
    if (!again) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
  }
}
