using Snapper.Generators.Models;

namespace Snapper.Generators.Emit;

/// <summary>
/// Writes the descriptor of one actor class: <c>{Class}Descriptor.Instance</c>, in the class's namespace.
/// </summary>
internal static class DescriptorEmitter
{
    private const string Generated = "global::Snapper.Actors.Generated.";
    private const string Nothing = "global::Snapper.Actors.Nothing";

    public static string NameOf(ActorModel actor) => actor.Name + "Descriptor";

    public static string Emit(ActorModel actor)
    {
        var source = new SourceText();
        if (actor.Namespace.Length > 0)
        {
            source.Line($"namespace {actor.Namespace};");
            source.Line();
        }

        source.Line($"/// <summary>What a worker needs to know to host actors of the type <c>{actor.Type}</c>.</summary>");
        source.Open($"public static class {NameOf(actor)}");
        WriteInstance(source, actor);
        source.Line();
        WriteCreate(source, actor);
        source.Close();
        return source.ToString();
    }

    private static void WriteInstance(SourceText source, ActorModel actor)
    {
        source.Line("/// <summary>The descriptor.</summary>");
        source.Line($"public static {Generated}ActorTypeDescriptor Instance {{ get; }} = new(");
        source.Indent();
        source.Line($"Type: {SourceText.Literal(actor.Type)},");
        source.Line($"ActorClass: typeof({actor.FullName}),");
        source.Line($"StateType: typeof({actor.State}),");
        source.Open("Interfaces: new global::System.Type[]");
        foreach (var contract in actor.Contracts)
        {
            source.Line($"typeof({contract}),");
        }

        source.Close(",");
        source.Line("Create: Create,");
        source.Open($"Methods: new {Generated}ActorMethod[]");
        foreach (var method in actor.Methods)
        {
            WriteMethod(source, actor, method);
        }

        if (actor.IsCompatible)
        {
            // No caller can name it: POST /v1/imports starts it.
            source.Line($"new {Generated}ActorMethod<{actor.State}, bool>(");
            source.Line("    \"$importNew\", mayAbort: false, readOnly: false,");
            source.Line("    static (actor, input) =>");
            source.Line("        global::Snapper.DaprCompatibility.ActorCalls.Import(actor, input))");
            source.Line("    { InputIsImmutable = true },");
        }

        source.Close(",");
        source.Line($"StateIsImmutable: {SourceText.Literal(actor.StateIsImmutable)},");
        var end = actor.Evolution is not null ? ")"
            : actor.StateReadsAsWritten ? ") { StateReadsAsWritten = true };" : ");";
        var bound = actor.TurnBoundMs.ToString(System.Globalization.CultureInfo.InvariantCulture);
        source.Line($"TurnBoundMs: {bound}{(actor.PartitionSeparator is null ? end : ",")}");
        if (actor.PartitionSeparator is { } separator)
        {
            source.Line($"PartitionSeparator: {Microsoft.CodeAnalysis.CSharp.SymbolDisplay.FormatLiteral(separator, quote: true)}{end}");
        }

        source.Outdent();
        if (actor.Evolution is { } evolution)
        {
            WriteEvolution(source, actor, evolution);
        }
    }

    private static void WriteEvolution(SourceText source, ActorModel actor, EvolutionModel evolution)
    {
        source.Open("");
        source.Line($"StateReadsAsWritten = {SourceText.Literal(actor.StateReadsAsWritten)},");
        var versions = $"{Number(evolution.Version)}, {Number(evolution.Oldest)}";
        source.Line($"Evolution = new {Generated}StateEvolution({versions}, new {Generated}StateUpcast[]");
        source.Open("");
        foreach (var upcast in evolution.Upcasts)
        {
            source.Line($"new {Generated}StateUpcast<{upcast.Old}, {upcast.Next}>(");
            source.Line($"    {Number(upcast.From)}, static old => {upcast.Method}(old)),");
        }

        source.Close("),");
        source.Close(";");
    }

    private static string Number(int value) => value.ToString(System.Globalization.CultureInfo.InvariantCulture);

    private static void WriteMethod(SourceText source, ActorModel actor, ActorMethodModel method)
    {
        source.Line($"new {Generated}ActorMethod<{method.Input ?? Nothing}, {method.Result ?? Nothing}>(");
        source.Line(
            $"    {SourceText.Literal(method.Name)}, mayAbort: {SourceText.Literal(method.MayAbort)}, "
            + $"readOnly: {SourceText.Literal(method.ReadOnly)},");
        source.Line($"    static (actor, input) => {Call(actor, method)})");
        if (method.Declares is null)
        {
            source.Line($"    {{ InputIsImmutable = {SourceText.Literal(method.InputIsImmutable)} }},");
            return;
        }

        var call = $"{actor.FullName}.{method.Declares}(declaration, id{(method.Input is null ? "" : ", input")})";
        source.Line("    {");
        source.Line($"        InputIsImmutable = {SourceText.Literal(method.InputIsImmutable)},");
        source.Line($"        Declares = static (declaration, id, input) => {call},");
        source.Line($"        DeclarationIsBounded = {SourceText.Literal(method.DeclarationIsBounded)},");
        source.Line("    },");
    }

    private static string Call(ActorModel actor, ActorMethodModel method)
    {
        var arguments = method.Input is null ? "" : "input";
        if (method.TakesCancellation)
        {
            arguments += (arguments.Length == 0 ? "" : ", ") + "global::System.Threading.CancellationToken.None";
        }

        var call = $"(({method.Receiver})actor).{method.Identifier}({arguments})";
        if (!actor.IsCompatible)
        {
            return call;
        }

        // The base class prepares the actor, and keeps what has changed afterwards.
        var run = method.Result is null ? "Run" : $"Run<{method.Input ?? Nothing}, {method.Result}>";
        return $"global::Snapper.DaprCompatibility.ActorCalls.{run}("
            + $"actor, {SourceText.Literal(method.Name)}, {SourceText.Literal(method.ReadOnly)}, input, "
            + $"static (actor, input) => {call})";
    }

    private static void WriteCreate(SourceText source, ActorModel actor)
    {
        source.Line("private static global::Snapper.Actors.TransactionalActor Create(global::System.IServiceProvider? services) =>");
        if (actor.Services.Count == 0)
        {
            source.Line($"    new {actor.FullName}();");
            return;
        }

        source.Line($"    new {actor.FullName}(");
        for (var i = 0; i < actor.Services.Count; i++)
        {
            var service = actor.Services[i];
            var found = $"services?.GetService(typeof({service.Type}))";
            var end = i == actor.Services.Count - 1 ? ");" : ",";
            if (service.IsHost)
            {
                source.Line($"        new {service.Type.TrimEnd('?')}(services){end}");
                continue;
            }

            source.Line(service.IsOptional
                ? $"        ({service.Type.TrimEnd('?')}?){found}{end}"
                : $"        ({service.Type})({found} ?? throw Missing({SourceText.Literal(Readable(service.Type))})){end}");
        }

        if (!RequiresService(actor))
        {
            return;
        }

        source.Line();
        source.Line("private static global::System.InvalidOperationException Missing(string service) =>");
        source.Line($"    new(\"Actors of the type '{actor.Type}' need the service \" + service + \", which the host has not registered.\");");
    }

    private static bool RequiresService(ActorModel actor)
    {
        foreach (var service in actor.Services)
        {
            if (!service.IsOptional && !service.IsHost)
            {
                return true;
            }
        }

        return false;
    }

    private static string Readable(string type) => type.Replace("global::", "");
}
