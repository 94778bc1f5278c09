package io.dynamo.frontend.openai.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UrlSecretsTest {
  @ParameterizedTest
  @CsvSource({
    "https://me:pw@host/a.png, https://[masked]@host/a.png",
    "see https://me:p@w@host:1 and http://x/?a=1, see https://[masked]@host:1 and http://x/?a=1",
    "https://b.s3/x?X-Amz-Credential=a%2Fb&X-Amz-Expires=9&X-Amz-Signature=0a, https://b.s3/x?X-Amz-Credential=[masked]&X-Amz-Expires=9&X-Amz-Signature=[masked]",
    "https://a/x?sv=1&sig=ab%3D&se=2, https://a/x?sv=1&sig=[masked]&se=2",
    "https://a/x?Expires=1&Signature=b~c&Key-Pair-Id=K, https://a/x?Expires=1&Signature=[masked]&Key-Pair-Id=[masked]",
    "https://a/x?key=AIza&page=2, https://a/x?key=[masked]&page=2",
    "https://a/x?a=b=c&access_token=t#id_token=u, https://a/x?a=b=c&access_token=[masked]#id_token=[masked]",
    "https://a/x?next=https://u:p@h/, https://a/x?next=https://[masked]@h/",
    "'http://a,http://u:p@b', 'http://a,http://[masked]@b'",
    "p=http://u:p@x;q=https://u2:p2@y, p=http://[masked]@x;q=https://[masked]@y",
    "[a](https://a)(https://u:p@b), [a](https://a)(https://[masked]@b)",
    "见https://u:p@b和http://v:q@c, 见https://[masked]@b和http://[masked]@c",
    "<img src=\"https://a/?token=t\">done, <img src=\"https://a/?token=[masked]\">done"
  })
  void credentialsAreMasked(String text, String masked) {
    assertThat(UrlSecrets.masked(text)).isEqualTo(masked);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no address, token=abc and me:pw@host",
        "https://host/a?design=1&keyword=x&q=a@b#top",
        "https://host/@me/x?token=&sig",
        "://",
        "a://@host",
        "https://host?",
        ""
      })
  void otherTextsStayAsTheyAre(String text) {
    assertThat(UrlSecrets.masked(text)).isEqualTo(text);
  }

  @Test
  void longTextsTakeOnePass() {
    var many = "http://a?" + "token=t&".repeat(1 << 17);

    assertThat(UrlSecrets.masked(many)).hasSize(9 + (14 + 1) * (1 << 17));
    assertThat(UrlSecrets.masked("://".repeat(1 << 19))).hasSize(3 << 19);
    assertThat(UrlSecrets.masked("http://" + "a@".repeat(1 << 19))).isEqualTo("http://[masked]@");
  }
}
