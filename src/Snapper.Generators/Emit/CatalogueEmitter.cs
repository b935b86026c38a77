using System.Text;
using Snapper.Generators.Models;

namespace Snapper.Generators.Emit;

/// <summary>Writes the list of all actor types of an assembly: <c>{Assembly}.{AssemblyWithoutDots}Actors.All</c>.</summary>
internal static class CatalogueEmitter
{
    public static string NameOf(string assembly) => Word(assembly.Replace(".", "")) + "Actors";

    public static string NamespaceOf(string assembly)
    {
        var parts = assembly.Split('.');
        for (var i = 0; i < parts.Length; i++)
        {
            parts[i] = Names.Identifier(Word(parts[i]));
        }

        return string.Join(".", parts);
    }

    public static string Emit(string assembly, IEnumerable<ActorModel> actors)
    {
        var source = new SourceText();
        var catalogue = $"global::{NamespaceOf(assembly)}.{NameOf(assembly)}";
        source.Line($"[assembly: global::Snapper.Actors.Generated.ActorCatalogue(typeof({catalogue}))]");
        source.Line();
        source.Line($"namespace {NamespaceOf(assembly)};");
        source.Line();
        source.Line("/// <summary>The actor types of this assembly.</summary>");
        source.Open($"public static class {NameOf(assembly)}");
        source.Line("/// <summary>Their descriptors, ordered by the classes' names.</summary>");
        source.Line("public static global::System.Collections.Generic.IReadOnlyList<global::Snapper.Actors.Generated.ActorTypeDescriptor> All { get; } =");
        source.Indent();
        source.Open("new global::Snapper.Actors.Generated.ActorTypeDescriptor[]");
        foreach (var actor in actors)
        {
            source.Line($"{(actor.Namespace.Length == 0 ? "global::" : "global::" + actor.Namespace + ".")}{DescriptorEmitter.NameOf(actor)}.Instance,");
        }

        source.Close(";");
        source.Outdent();
        source.Close();
        return source.ToString();
    }

    // A name that is no C# identifier becomes one.
    private static string Word(string part)
    {
        var word = new StringBuilder();
        foreach (var c in part)
        {
            word.Append(char.IsLetterOrDigit(c) ? c : '_');
        }

        if (word.Length == 0 || char.IsDigit(word[0]))
        {
            word.Insert(0, '_');
        }

        return word.ToString();
    }
}
