package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.json.JsonObject;
import io.dynamo.transfer.RegionAddress.Permission;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RegionAddressTest {
  private static RegionAddress address(Permission permission) {
    return new RegionAddress("127.0.0.1", 7, 5, new byte[32], 100, permission);
  }

  /** Processes that know of writes alone get, and give, addresses as before. */
  @Test
  void anAddressToWriteToHasNoFurtherMember() {
    var members = address(Permission.WRITE).toMembers();
    assertThat(members).containsOnlyKeys("host", "port", "lease", "secret", "byte_size");
    assertThat(RegionAddress.of(JsonObject.of(members)).permission()).isEqualTo(Permission.WRITE);
  }

  @Test
  void anAddressToReadFromSaysSo() {
    var members = new LinkedHashMap<String, @Nullable Object>(address(Permission.READ).toMembers());
    assertThat(members).containsEntry("permission", "read");
    assertThat(RegionAddress.of(JsonObject.of(members)).permission()).isEqualTo(Permission.READ);
    members.put("permission", "execute");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RegionAddress.of(JsonObject.of(members)))
        .withMessageContaining("permission execute");
  }
}
