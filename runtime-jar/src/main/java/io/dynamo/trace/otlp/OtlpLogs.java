package io.dynamo.trace.otlp;

import java.util.List;

/**
 * Creates OpenTelemetry's loggers from the JDK's own class first. A server's log manager keeps a
 * logger by its name, and with it the class that requested it first: if that were OpenTelemetry's,
 * the next application, which finds the logger still there, would keep the classes of the previous
 * one.
 */
final class OtlpLogs {
  /** The logger names of all classes that exported spans pass through. */
  static final List<String> NAMES =
      List.of(
          "io.opentelemetry.api.GlobalOpenTelemetry",
          "io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator",
          "io.opentelemetry.common.impl.ApiUsageLogger",
          "io.opentelemetry.context.ContextStorageWrappers",
          "io.opentelemetry.context.LazyStorage",
          "io.opentelemetry.context.ThreadLocalContextStorage",
          "io.opentelemetry.exporter.internal.SenderUtil",
          "io.opentelemetry.exporter.internal.http.HttpExporter",
          "io.opentelemetry.exporter.internal.http.HttpExporterBuilder",
          "io.opentelemetry.exporter.internal.marshal.StringEncoderHolder",
          "io.opentelemetry.exporter.otlp.internal.HttpExporter",
          "io.opentelemetry.exporter.otlp.internal.HttpExporterBuilder",
          "io.opentelemetry.exporter.otlp.internal.OtlpConfigUtil",
          "io.opentelemetry.exporter.sender.jdk.internal.JdkHttpSender",
          "io.opentelemetry.sdk.resources.Resource",
          "io.opentelemetry.sdk.trace.SdkSpan",
          "io.opentelemetry.sdk.trace.SdkTracerProvider",
          "io.opentelemetry.sdk.trace.export.BatchSpanProcessor",
          "io.opentelemetry.sdk.trace.export.BatchSpanProcessorBuilder",
          "io.opentelemetry.sdk.trace.export.MultiSpanExporter",
          "io.opentelemetry.sdk.trace.samplers.ParentBasedSamplerBuilder");

  /** Strong references, since the log manager's own are weak. */
  private static final List<System.Logger> LOGGERS = NAMES.stream().map(System::getLogger).toList();

  private OtlpLogs() {}

  /** Creates the loggers. To be called before any class of OpenTelemetry is used. */
  static void install() {
    for (var logger : LOGGERS) {
      var _ = logger.isLoggable(System.Logger.Level.ERROR); // a logger is created at its first use
    }
  }
}
