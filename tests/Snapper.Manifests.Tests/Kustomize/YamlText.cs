using System.Globalization;
using System.Text.Json.Nodes;
using YamlDotNet.Core;
using YamlDotNet.RepresentationModel;

namespace Snapper.Manifests.Tests.Kustomize;

/// <summary>YAML as the API server reads it, as JSON: plain scalars have the types of YAML 1.1 as far as they matter here, quoted ones are text.</summary>
internal static class YamlText
{
    /// <summary>The documents of a text; empty ones are left out.</summary>
    /// <exception cref="ManifestException">It is no YAML, a key is repeated, or a document is no mapping.</exception>
    public static IReadOnlyList<JsonObject> Documents(string text, string name)
    {
        var stream = new YamlStream();
        try
        {
            stream.Load(new StringReader(text));
        }
        catch (YamlException wrong)
        {
            throw new ManifestException($"{name}: {wrong.Message}");
        }

        return [.. stream.Documents.Select(document => Json(document.RootNode, name)).Where(node => node is not null).Select(
            node => node as JsonObject ?? throw new ManifestException($"{name}: a document is no mapping"))];
    }

    /// <summary>One document of any kind, as a patch inside a kustomization.</summary>
    public static JsonNode? Value(string text, string name)
    {
        var stream = new YamlStream();
        stream.Load(new StringReader(text));
        return stream.Documents.Count == 1 ? Json(stream.Documents[0].RootNode, name) : throw new ManifestException($"{name}: one document was expected");
    }

    private static JsonNode? Json(YamlNode node, string name)
    {
        switch (node)
        {
            case YamlMappingNode mapping:
                var json = new JsonObject();
                foreach (var (key, value) in mapping.Children) json.Add(((YamlScalarNode)key).Value!, Json(value, name));
                return json;
            case YamlSequenceNode sequence:
                return new JsonArray([.. sequence.Children.Select(child => Json(child, name))]);
            case YamlScalarNode { Style: ScalarStyle.Plain } plain:
                return Plain(plain.Value ?? "", name);
            case YamlScalarNode scalar:
                return JsonValue.Create(scalar.Value ?? "");
            default:
                throw new ManifestException($"{name}: aliases are not used here");
        }
    }

    private static JsonNode? Plain(string text, string name) => text switch
    {
        "" or "~" or "null" => null,
        "true" => JsonValue.Create(true),
        "false" => JsonValue.Create(false),

        // YAML 1.1, which Kubernetes reads, and 1.2 differ: what means two things is quoted.
        "yes" or "no" or "on" or "off" or "Yes" or "No" or "On" or "Off" or "True" or "False" or "y" or "n" => throw new ManifestException($"{name}: '{text}' needs quotes, or true or false"),
        _ when long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var whole) =>
            text.Length > 1 && text[0] == '0' ? throw new ManifestException($"{name}: {text} is octal; write it in decimal or quote it") : JsonNode.Parse(whole.ToString(CultureInfo.InvariantCulture)), // read again as any type of number
        _ when double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out var number) => JsonValue.Create(number),
        _ => JsonValue.Create(text),
    };
}

/// <summary>Manifests cannot be read or put together.</summary>
internal sealed class ManifestException(string message) : Exception(message);
