package io.dynamo.frontend.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.apidoc.DescribedOperations;
import org.junit.jupiter.api.Test;

class InnerPagesServletTest {
  @Test
  void everyPageIsDescribed() {
    var described = DescribedOperations.paths();
    assertThat(InnerPagesServlet.PAGES).isNotEmpty();
    InnerPagesServlet.PAGES.forEach(
        (root, pages) ->
            assertThat(pages)
                .allSatisfy(
                    page -> assertThat(described).contains(page.equals("/") ? root : root + page)));
  }
}
