package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.config.frontend.Coalescing;
import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.config.frontend.ModelBounds;
import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.plane.DiscoverySettings;
import io.dynamo.config.plane.EventSettings;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.TestSettings;
import java.net.Inet4Address;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsReaderTest {
  @Test
  void defaultsMakeAWholeServerOnLoopback() {
    var settings = TestSettings.defaults();

    assertThat(settings.server().roles())
        .containsExactlyInAnyOrder(Role.FRONTEND, Role.ROUTER, Role.WORKER);
    assertThat(settings.server().httpHost()).isEqualTo("127.0.0.1");
    assertThat(settings.discovery().backend()).isEqualTo(DiscoverySettings.Backend.MEMORY);
    assertThat(settings.discovery().fileRoot()).isEqualTo(Path.of("/tmp/dynamo_store_kv"));
    assertThat(settings.tcp().maxFrameBytes()).isEqualTo(33_554_432);
    assertThat(settings.tcp().format()).isEqualTo(PayloadFormat.MSGPACK);
    assertThat(settings.router().mode()).isEqualTo(RouterSettings.Mode.KV);
    assertThat(settings.frontend().requestTimeout()).isEqualTo(Duration.ofMinutes(10));
    assertThat(settings.frontend().preprocessThreads()).isPositive();
    assertThat(settings.worker().modelPath()).isEqualTo(Path.of("/srv/config/models/tiny"));
    assertThat(settings.worker().modelName()).isNull();
    assertThat(settings.worker().prefillPerToken()).isEqualTo(Duration.ofNanos(50_000));
  }

  @Test
  void halfOfATlsIdentityIsRefused() {
    var halves =
        Map.of(
            "dynamo.request.tcp.tls.certificate", "/tls/cert.pem",
            "dynamo.request.tcp.tls.client-key", "/tls/client.key");
    assertThatThrownBy(() -> TestSettings.with(halves))
        .isInstanceOfSatisfying(
            InvalidSettingsException.class, e -> assertThat(e.problems()).hasSize(2))
        .hasMessageContaining("no effect without dynamo.request.tcp.tls.key")
        .hasMessageContaining("no effect without dynamo.request.tcp.tls.client-certificate");
  }

  @Test
  void halfOfTheHttpPortsTlsIsRefused() {
    for (var half : Map.of("certificate", "key", "key", "certificate").entrySet()) {
      var values = Map.of("dynamo.http.tls." + half.getKey(), "/tls/file.pem");
      assertThatThrownBy(() -> TestSettings.with(values))
          .isInstanceOf(InvalidSettingsException.class)
          .hasMessageContaining(
              "dynamo.http.tls.%s = \"/tls/file.pem\" has no effect without dynamo.http.tls.%s; set both, or neither"
                  .formatted(half.getKey(), half.getValue()));
    }
    var demand = Map.of("dynamo.http.tls.client-authorities", "/tls/clients.pem");
    assertThatThrownBy(() -> TestSettings.with(demand))
        .hasMessageContaining("has no effect without dynamo.http.tls.certificate");
  }

  @Test
  void theHttpPortMayLeaveLoopbackOnceItDemandsCertificates() {
    var values =
        new HashMap<>(
            Map.of(
                "dynamo.http.host", "0.0.0.0",
                "dynamo.http.tls.certificate", "/tls/cert.pem",
                "dynamo.http.tls.key", "/tls/key.pem"));
    assertThatThrownBy(() -> TestSettings.with(values))
        .hasMessageContaining("dynamo.http.host = \"0.0.0.0\" is reachable from other machines");

    values.put("dynamo.http.tls.client-authorities", "/tls/clients.pem");
    assertThat(TestSettings.with(values).server().httpTls().scheme()).isEqualTo("https");
  }

  @Test
  void aDemandForCertificatesWithoutTlsIsRefused() {
    var demand = Map.of("dynamo.request.tcp.tls.client-authorities", "/tls/clients.pem");
    assertThatThrownBy(() -> TestSettings.with(demand))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("no effect without dynamo.request.tcp.tls.certificate");
  }

  @Test
  void everyBadValueIsListedWithItsKeyValueAndBound() {
    var bad =
        Map.of(
            "dynamo.http.port", "eighty",
            "dynamo.request.tcp.pool-size", "0",
            "dynamo.worker.token-interval", "5",
            "dynamo.router.mode", "best",
            "dynamo.frontend.body-limit", "9GiB");

    assertThatThrownBy(() -> TestSettings.with(bad))
        .isInstanceOfSatisfying(
            InvalidSettingsException.class, e -> assertThat(e.problems()).hasSize(5))
        .hasMessageContaining("dynamo.http.port = \"eighty\" (from test) is not a whole number")
        .hasMessageContaining(
            "dynamo.request.tcp.pool-size = \"0\" (from test) must be 1 to 1024; set integer of 1"
                + " to 1024")
        .hasMessageContaining("dynamo.worker.token-interval = \"5\"")
        .hasMessageContaining(
            "dynamo.router.mode = \"best\" (from test) is not round-robin or random or power-of-two"
                + " or least-loaded or direct or device-aware-weighted or kv")
        .hasMessageContaining("dynamo.frontend.body-limit = \"9GiB\"");
  }

  @ParameterizedTest
  @CsvSource({"500ms,500", "10s,10000", "2m,120000", "PT1.5S,1500", "1h,3600000"})
  void durationsAreReadWithUnitsOrAsIso(String text, long millis) {
    var settings = TestSettings.with(Map.of("dynamo.frontend.request-timeout", text));

    assertThat(settings.frontend().requestTimeout()).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(strings = {"10", "10 parsecs", "-1s", "99999999999999999999s", "PT", "9999999h"})
  void otherDurationsAreRefused(String text) {
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.frontend.request-timeout", text)))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.frontend.request-timeout");
  }

  @ParameterizedTest
  @CsvSource({"65536,65536", "64KiB,65536", "2 MiB,2097152"})
  void sizesAreBytesOrPowersOfTwo(String text, int bytes) {
    var settings = TestSettings.with(Map.of("dynamo.request.tcp.max-frame", text));

    assertThat(settings.tcp().maxFrameBytes()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "*", "10.0.0.7", "example.org", "::"})
  void httpOffLoopbackIsRefusedUnlessInsecureIsAccepted(String host) {
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.http.host", host)))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.security.insecure=true");

    var accepted =
        TestSettings.with(Map.of("dynamo.http.host", host, "dynamo.security.insecure", "true"));
    assertThat(accepted.server().httpHost()).isEqualTo(host);
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost", "127.0.0.2", "::1"})
  void loopbackNeedsNoConsent(String host) {
    assertThat(TestSettings.with(Map.of("dynamo.http.host", host)).server().httpHost())
        .isEqualTo(host);
  }

  @Test
  void theRequestPlaneOffLoopbackIsRefusedToo() {
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.request.tcp.host", "10.0.0.7")))
        .hasMessageContaining("dynamo.request.tcp.host = \"10.0.0.7\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "::", "0:0:0:0:0:0:0:0"})
  void theRequestPlaneIsToldOneAddressSinceItIsAdvertised(String host) {
    var wildcard = Map.of("dynamo.request.tcp.host", host, "dynamo.security.insecure", "true");

    assertThatThrownBy(() -> TestSettings.with(wildcard))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.request.tcp.host = \"" + host + "\"")
        .hasMessageContaining("name one address");
  }

  @Test
  void workersCallHomeToTheAddressOfTheInterfaceThatIsNamed() {
    var tcp = TestSettings.with(Map.of("dynamo.request.tcp.response-interface", "lo")).tcp();
    assertThat(tcp.responseHost()).isEqualTo("127.0.0.1");
    assertThat(TestSettings.with(Map.of("dynamo.request.tcp.host", "127.0.0.2")).tcp())
        .as("without one")
        .extracting(TcpSettings::responseHost)
        .isEqualTo("127.0.0.2");
  }

  @Test
  void anInterfaceThatIsNotThereIsRefusedWithThoseThatAre() {
    assertThatThrownBy(
            () -> TestSettings.with(Map.of("dynamo.request.tcp.response-interface", "eth99")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(
            "dynamo.request.tcp.response-interface = \"eth99\": this host has no such network"
                + " interface; it has ")
        .hasMessageContaining("lo");
  }

  @Test
  void anInterfaceOffLoopbackNeedsConsent() throws SocketException {
    var outer =
        NetworkInterface.networkInterfaces()
            .filter(
                it ->
                    it.inetAddresses()
                        .anyMatch(
                            address ->
                                address instanceof Inet4Address && !address.isLoopbackAddress()))
            .findFirst();
    assumeTrue(outer.isPresent(), "this host has loopback only");
    var values =
        new HashMap<>(
            Map.of("dynamo.request.tcp.response-interface", outer.orElseThrow().getName()));
    assertThatThrownBy(() -> TestSettings.with(values))
        .hasMessageContaining("which is reachable from other machines");
    values.put("dynamo.security.insecure", "true");
    assertThat(TestSettings.with(values).tcp().responseHost()).isNotEqualTo("127.0.0.1");
  }

  @Test
  void anUnknownEventPlaneIsRefusedByItsBound() {
    assertThat(TestSettings.defaults().event().plane()).isEqualTo(EventSettings.Plane.ZMQ);
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.event.plane", "mqtt")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(
            "dynamo.event.plane = \"mqtt\" (from test) is not zmq or nats or local");
  }

  @Test
  void eventsOffLoopbackAreRefusedUnlessOpenPlanesAreAccepted() {
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.event.zmq.bind", "10.0.0.7")))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.security.open-planes=true");

    var accepted =
        TestSettings.with(
            Map.of("dynamo.event.zmq.bind", "10.0.0.7", "dynamo.security.open-planes", "true"));
    assertThat(accepted.event().zmqBind()).isEqualTo("10.0.0.7");
    assertThat(accepted.event().zmqHost()).isNull();
  }

  @Test
  void advertisedEventAddressMustBeReachable() {
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.event.zmq.host", "10.0.0.7")))
        .hasMessageContaining("hears this machine only");

    var wildcard =
        Map.of("dynamo.event.zmq.bind", "0.0.0.0", "dynamo.security.open-planes", "true");
    assertThatThrownBy(() -> TestSettings.with(wildcard))
        .hasMessageContaining("say with dynamo.event.zmq.host");
    var named = new HashMap<>(wildcard);
    named.put("dynamo.event.zmq.host", "events.example.org");
    assertThat(TestSettings.with(named).event().zmqHost()).isEqualTo("events.example.org");
  }

  @Test
  void aBlankValueCountsAsAbsent() {
    assertThat(TestSettings.with(Map.of("dynamo.http.port", " ")).server().httpPort())
        .isEqualTo(8000);
  }

  @Test
  void aDefaultThatLeadsNowhereSaysWhatToSet() {
    assertThatThrownBy(() -> SettingsReader.read(_ -> null))
        .hasMessageContaining("there is no server.config.dir here; set dynamo.worker.model-path");
  }

  @Test
  void aModelMayHaveBoundsOfItsOwn() {
    var settings =
        TestSettings.with(
            Map.of(
                "dynamo.frontend.admission.max-running", "8",
                "dynamo.frontend.admission.models", "org/big=64/128/20s, a=b=1/0/5ms"));
    var admission = settings.frontend().admission();
    assertThat(admission.of("org/big")).isEqualTo(new ModelBounds(64, 128, Duration.ofSeconds(20)));
    assertThat(admission.of("a=b")).isEqualTo(new ModelBounds(1, 0, Duration.ofMillis(5)));
    assertThat(admission.of("other")).isEqualTo(new ModelBounds(8, 1024, Duration.ofSeconds(10)));
    assertThat(TestSettings.defaults().frontend().admission())
        .isEqualTo(FrontendAdmission.STANDARD);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "big=64/128 | has \"big=64/128\", which is not model=running/waiting/wait",
        "=1/1/1s | has \"=1/1/1s\", which is not",
        "big=64/x/1s | has \"big=64/x/1s\", in which one part is not a whole number",
        "big=0/1/1s | has \"big=0/1/1s\", which must be 1 to 1000000, 0 to 1000000 and 1ms to 24h",
        "big=1/1/1s,big=2/2/2s | names big twice"
      })
  void boundsOfAModelThatMakeNoSenseAreRefused(String text, String reason) {
    var bad = Map.of("dynamo.frontend.admission.models", text);
    assertThatThrownBy(() -> TestSettings.with(bad))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void aModelMayHaveAWindowOfItsOwn() {
    var coalescing =
        TestSettings.with(
                Map.of(
                    "dynamo.frontend.coalesce", "5ms",
                    "dynamo.frontend.coalesce.models", "org/big=20ms, a=b=0s"))
            .frontend()
            .coalescing();
    assertThat(coalescing.of("org/big")).isEqualTo(Duration.ofMillis(20));
    assertThat(coalescing.of("a=b")).isEqualTo(Duration.ZERO);
    assertThat(coalescing.of("other")).isEqualTo(Duration.ofMillis(5));
    assertThat(TestSettings.defaults().frontend().coalescing()).isEqualTo(Coalescing.NONE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "=1s | has \"=1s\", which is not",
        "20ms | has \"20ms\", which is not",
        "big=soon | has \"big=soon\", in which one part",
        "big=11s | has \"big=11s\", which must be 0s to 10s",
        "big=1ms,big=2ms | names big twice"
      })
  void windowsOfAModelThatMakeNoSenseAreRefused(String text, String reason) {
    var bad = Map.of("dynamo.frontend.coalesce.models", text);
    assertThatThrownBy(() -> TestSettings.with(bad))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining(reason);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Bearer sesame | has a part without a name and '='",
        "authorization=Bearer%20sesame%zz | has a % without two hexadecimal digits after it",
        "authorization=sesame%0d%0aX: 1 | has a part that no HTTP header can carry",
        "my key=sesame | has a part that no HTTP header can carry",
      })
  void credentialsForTheCollectorAreNotToldWhenTheyAreRefused(String headers, String why) {
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.trace.headers", headers)))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.trace.headers = \"***\"")
        .hasMessageContaining(why)
        .hasMessageNotContaining("sesame");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ftp://collector/v1", "collector:4318", "http://", "http://a b/"})
  void aCollectorIsReachedByHttp(String url) {
    assertThatThrownBy(() -> TestSettings.with(Map.of("dynamo.trace.endpoint", url)))
        .isInstanceOf(InvalidSettingsException.class)
        .hasMessageContaining("dynamo.trace.endpoint = \"" + url + "\"");
  }
}
