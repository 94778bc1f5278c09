package io.dynamo.runtime.http;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The part of the container's configuration that sets up TLS. Names and password are new each time,
 * so that the container notices a change.
 *
 * @param identity file name of the store with the port's key and chain
 * @param authorities file name of the store with the authorities that client certificates are
 *     checked against
 * @param password of both stores
 */
record TlsPiece(String identity, String authorities, String password) {
  private static final int PASSWORD_BYTES = 24;
  private static final int NAME_BYTES = 6;

  static TlsPiece withNewNames() {
    var random = new SecureRandom();
    var name = hex(random, NAME_BYTES) + ".p12";
    return new TlsPiece("identity-" + name, "authorities-" + name, hex(random, PASSWORD_BYTES));
  }

  private static String hex(SecureRandom random, int count) {
    var bytes = new byte[count];
    random.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /**
   * Returns the elements, under the ids of {@code config/http.xml}.
   *
   * @param folder the folder of the stores
   * @param checksClients whether there are authorities
   */
  String xml(Path folder, boolean checksClients) {
    return store("dynamoIdentity", folder, identity)
        + (checksClients ? store("dynamoAuthorities", folder, authorities) : "")
        + """
          <ssl id="dynamoTls" keyStoreRef="dynamoIdentity" sslProtocol="TLSv1.3,TLSv1.2"%s/>
          <sslOptions id="dynamoTlsOptions" sslRef="dynamoTls" suppressHandshakeErrorsCount="100"/>
        """
            .formatted(
                checksClients
                    ? " trustStoreRef=\"dynamoAuthorities\" clientAuthentication=\"true\""
                    : "");
  }

  private String store(String id, Path folder, String file) {
    return """
      <keyStore id="%s" type="PKCS12" location="${server.output.dir}/%s/%s/%s" password="%s" readOnly="true"/>
    """
        .formatted(id, HttpPort.FOLDER, folder.getFileName(), file, password);
  }
}
