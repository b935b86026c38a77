using Snapper.Generators.Models;

namespace Snapper.Generators.Emit;

/// <summary>Writes the proxy of one actor interface and the module initializer that registers it.</summary>
internal static class ProxyEmitter
{
    private const string Generated = "global::Snapper.Actors.Generated.";

    public static string Emit(ContractModel contract, string actorType)
    {
        var source = new SourceText();
        source.Line("file sealed class Proxy(global::Snapper.Actors.IActorCaller caller, string actorType, string actorId)");
        source.Open($"    : {Generated}ActorProxy(caller, actorType, actorId), {contract.FullName}");
        for (var i = 0; i < contract.Methods.Count; i++)
        {
            WriteKey(source, contract.Methods[i], i);
        }

        for (var i = 0; i < contract.Methods.Count; i++)
        {
            source.Line();
            WriteMethod(source, contract.Methods[i], i);
        }

        source.Close();
        source.Line();
        source.Open("file static class Registration");
        source.Line("[global::System.Runtime.CompilerServices.ModuleInitializer]");
        source.Line("internal static void Add() =>");
        source.Line($"    {Generated}ActorProxies.Add(");
        source.Line($"        typeof({contract.FullName}),");
        source.Line($"        {SourceText.Literal(actorType)},");
        source.Line("        static (caller, actorType, actorId) => new Proxy(caller, actorType, actorId));");
        source.Close();
        return source.ToString();
    }

    private static void WriteKey(SourceText source, ContractMethodModel method, int index)
    {
        var name = SourceText.Literal(method.Name);
        var input = SourceText.Literal(method.InputIsImmutable);
        var result = SourceText.Literal(method.ResultIsImmutable);
        source.Line($"private static readonly {Generated}ActorMethodKey Method{index} = new({name})");
        source.Line($"    {{ InputIsImmutable = {input}, ResultIsImmutable = {result} }};");
    }

    private static void WriteMethod(SourceText source, ContractMethodModel method, int index)
    {
        // Explicit implementations cannot collide with the base class, whatever the methods are called.
        var input = method.Input ?? "global::Snapper.Actors.Nothing";
        var parameters = new List<string>();
        if (method.Input is not null)
        {
            parameters.Add(method.Input + " input");
        }

        if (method.TakesCancellation)
        {
            parameters.Add("global::System.Threading.CancellationToken cancellation");
        }

        var argument = method.Input is null ? "default" : "input";
        var call = method.Result is null ? $"CallVoid<{input}>" : $"Call<{input}, {method.Result}>";
        source.Line($"{method.ReturnType} {method.DeclaredIn}.{method.Identifier}({string.Join(", ", parameters)}) =>");
        source.Line($"    {call}(Method{index}, {argument});");
    }
}
