package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.TlsSettings;
import io.dynamo.testing.Certificates;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlaneTlsTest {
  @TempDir private static Path folder;
  private static Certificates certificates;

  private final List<LogRecord> logged = new CopyOnWriteArrayList<>();
  private final Logger logger = Logger.getLogger(PlaneTls.class.getName());
  private final Handler ear =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          logged.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  PlaneTlsTest() {
    logger.addHandler(ear);
  }

  @BeforeAll
  static void makeCertificates() throws Exception {
    certificates = new Certificates(folder, "ours");
    certificates.sign("plane", "ip:127.0.0.1");
  }

  @AfterEach
  void stopListening() {
    logger.removeHandler(ear);
  }

  private static void open(boolean listens, boolean trusts, boolean insecure) {
    PlaneTls.of(
            new TlsSettings(
                listens ? certificates.certificateFile("plane") : null,
                listens ? certificates.keyFile("plane") : null,
                trusts ? certificates.authorityFile() : null,
                insecure,
                null,
                Duration.ofSeconds(1),
                null,
                null,
                null))
        .close();
  }

  @Test
  void listenersThatItsOwnKindCannotReachAreWarnedOf() {
    open(true, false, false);

    assertThat(logged)
        .singleElement()
        .satisfies(
            record -> {
              assertThat(record.getLevel()).isEqualTo(Level.WARNING);
              assertThat(record.getMessage()).contains("dynamo.request.tcp.tls.authorities");
            });
  }

  @Test
  void otherwiseThereIsNothingToSay() {
    open(true, true, false);
    open(true, false, true);
    open(false, true, false);
    open(false, false, false);

    assertThat(logged).isEmpty();
  }
}
