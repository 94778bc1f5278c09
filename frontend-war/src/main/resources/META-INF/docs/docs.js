// Shows the OpenAPI document of this server. Nothing is asked of other servers.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  validatorUrl: null,
});
