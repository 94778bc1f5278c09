/**
 * The catalog of the models that live workers serve now. Start at {@link
 * io.dynamo.frontend.catalog.ModelCatalog}.
 */
@NullMarked
package io.dynamo.frontend.catalog;

import org.jspecify.annotations.NullMarked;
