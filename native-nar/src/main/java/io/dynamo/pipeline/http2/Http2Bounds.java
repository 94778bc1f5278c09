package io.dynamo.pipeline.http2;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import java.time.Duration;

/**
 * The bounds of one end of the plane.
 *
 * @param maxFrameBytes the most bytes of one two-part frame
 * @param start how long a requester waits for the head of the response, and a worker for the rest
 *     of a request
 * @param writeStall how long a requester may take nothing of an answer that is there
 * @param finTimeout how long a worker waits for the requester to end its half of an answered stream
 */
public record Http2Bounds(
    int maxFrameBytes, Duration start, Duration writeStall, Duration finTimeout) {
  /** The streams of one connection. */
  static final int MAX_STREAMS = 1000;

  /** The header of a two-part frame in a request. */
  static final int MAX_CONTROL_BYTES = 128 * 1024;

  private static final int MAX_HEADER_LIST_BYTES = 128 * 1024;
  private static final int STREAM_WINDOW_BYTES = 64 * 1024;

  /**
   * Room for all streams at once: the unread bytes of streams whose readers pause must not use up
   * the window that all streams of the connection share.
   */
  private static final int CONNECTION_WINDOW_BYTES = MAX_STREAMS * STREAM_WINDOW_BYTES;

  private static final int DEFAULT_WINDOW_BYTES = 65_535;

  /** Requesters reset a stream to cancel its request, so many resets are no attack. */
  private static final int MAX_RESETS = 20_000;

  private static final int RESETS_WINDOW_SECONDS = 10;

  /** Adds the handlers of the requester's end of a connection. */
  static void addClient(ChannelPipeline pipeline, ChannelHandler pushed) {
    var settings = settings().pushEnabled(false);
    add(pipeline, Http2FrameCodecBuilder.forClient(), settings, pushed);
  }

  /** Adds the handlers of the worker's end of a connection. */
  static void addServer(ChannelPipeline pipeline, ChannelHandler streams) {
    var settings = settings().maxConcurrentStreams(MAX_STREAMS);
    add(pipeline, Http2FrameCodecBuilder.forServer(), settings, streams);
  }

  private static Http2Settings settings() {
    return new Http2Settings()
        .initialWindowSize(STREAM_WINDOW_BYTES)
        .maxHeaderListSize(MAX_HEADER_LIST_BYTES);
  }

  private static void add(
      ChannelPipeline pipeline,
      Http2FrameCodecBuilder codec,
      Http2Settings settings,
      ChannelHandler streams) {
    pipeline.addLast(
        codec
            .initialSettings(settings)
            .gracefulShutdownTimeoutMillis(0) // who closes has ended its streams
            .decoderEnforceMaxRstFramesPerWindow(MAX_RESETS, RESETS_WINDOW_SECONDS)
            .encoderEnforceMaxRstFramesPerWindow(MAX_RESETS, RESETS_WINDOW_SECONDS)
            .build(),
        new Http2MultiplexHandler(streams));
  }

  /** Returns the frame that opens the window that all streams of a connection share. */
  static DefaultHttp2WindowUpdateFrame connectionWindow() {
    return new DefaultHttp2WindowUpdateFrame(CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES);
  }
}
