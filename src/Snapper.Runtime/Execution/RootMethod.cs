using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Json;

namespace Snapper.Runtime.Execution;

/// <summary>A method with its JSON on both sides: what a request names. Typed underneath, so that no call is made by reflection.</summary>
public abstract class RootMethod
{
    private protected RootMethod(ActorMethod method) => Method = method;

    public ActorMethod Method { get; }

    /// <summary>Marked by its author, or because an unmarked attempt has failed in this process (A1).</summary>
    public bool Marked { get; set; }

    public string Name => Method.Name;

    /// <summary>It says itself which actors it touches.</summary>
    public abstract bool Declares { get; }

    /// <summary>Has it say which actors it touches. User code, which may throw anything, or not come back.</summary>
    /// <param name="declaration">Where it says so.</param>
    /// <param name="id">The root's id.</param>
    /// <param name="input">The input; null for a method that takes none.</param>
    public abstract void Declare(Declaration declaration, string id, object? input);

    /// <summary>Reads an input.</summary>
    /// <exception cref="InputException">It does not fit the method; the message says so in the caller's words.</exception>
    public abstract object? ParseInput(ReadOnlySpan<byte> json);

    /// <summary>Reads the input of a call.</summary>
    /// <returns>Null, or why it cannot be read.</returns>
    public string? TryParseInput(ReadOnlySpan<byte> json, ActorKey target, out object? input)
    {
        try
        {
            input = ParseInput(json);
            return null;
        }
        catch (InputException exception)
        {
            input = null;
            return $"{target}.{Name} was called with an input that does not fit: {exception.Message}.";
        }
    }

    /// <summary>The call that starts a transaction.</summary>
    public abstract CallFrame CreateRoot(Attempt attempt, ActorCell cell, object? input);

    /// <summary>A call that an actor of another worker has made.</summary>
    public abstract CallFrame CreateRemote(Attempt attempt, ActorKey target, RemoteCaller caller, object? input);
}

public class RootMethod<TInput, TResult> : RootMethod
{
    private readonly ActorMethod<TInput, TResult> _method;
    private readonly JsonTypeInfo<TInput>? _input;
    private readonly JsonTypeInfo<TResult>? _result;

    public RootMethod(ActorMethod<TInput, TResult> method, JsonSerializerOptions json, JsonSerializerOptions inputJson)
        : base(method)
    {
        _method = method;
        Marked = method.MayAbort;
        _input = typeof(TInput) == typeof(Nothing) || typeof(TInput) == typeof(StateReplacement) ? null : (JsonTypeInfo<TInput>)inputJson.GetTypeInfo(typeof(TInput));
        _result = typeof(TResult) == typeof(Nothing) ? null : (JsonTypeInfo<TResult>)json.GetTypeInfo(typeof(TResult));
    }

    public ActorMethod<TInput, TResult> Typed => _method;

    public override bool Declares => _method.Declares is not null;

    public override void Declare(Declaration declaration, string id, object? input) =>
        _method.Declares!(declaration, id, input is null ? default! : (TInput)input);

    public override object? ParseInput(ReadOnlySpan<byte> json)
    {
        if (_input is null)
        {
            if (json.IsEmpty || json.SequenceEqual("null"u8))
            {
                return null;
            }

            throw new InputException($"{Name} takes no input; it must be null or left out");
        }

        if (json.IsEmpty)
        {
            throw new InputException($"{Name} needs an input");
        }

        TInput? input;
        using var code = ValueCode.Enter();
        try
        {
            input = JsonSerializer.Deserialize(json, _input);
        }
        catch (Exception failure) // the input's own code may throw anything
        {
            throw new InputException(InputProblem.Find(json, _input, failure));
        }

        return input is null && default(TInput) is null ? throw new InputException($"{Name} needs an input that is not null") : input;
    }

    public override CallFrame CreateRoot(Attempt attempt, ActorCell cell, object? input) =>
        new CallFrame<TInput, TResult>(attempt, cell, this, input is null ? default! : (TInput)input);

    public override CallFrame CreateRemote(Attempt attempt, ActorKey target, RemoteCaller caller, object? input) =>
        new CallFrame<TInput, TResult>(attempt, target, caller, this, input is null ? default! : (TInput)input);

    /// <summary>The input of a call, as UTF-8 JSON; empty when the method takes none.</summary>
    /// <returns>Null, or why there is none, behind "calls X: ".</returns>
    public string? TryEncodeInput(TInput input, out byte[] json)
    {
        using var code = ValueCode.Enter();
        try
        {
            json = _input is null ? [] : JsonSerializer.SerializeToUtf8Bytes(input, _input);
            return null;
        }
        catch (Exception exception) // the input's own code may throw anything
        {
            json = [];
            return $"the input cannot be written as JSON: {exception.Words()}";
        }
    }

    /// <summary>A result as UTF-8 JSON.</summary>
    /// <param name="result">The result.</param>
    /// <param name="actor">Whose it is.</param>
    /// <param name="limit">Most bytes of it.</param>
    /// <param name="json">The bytes.</param>
    /// <returns>Null, or why there is none.</returns>
    public string? TryEncodeResult(TResult result, ActorKey actor, int limit, out byte[] json)
    {
        using var code = ValueCode.Enter();
        try
        {
            json = _result is null ? NullJson : ResultWriter.Write(result, _result, limit);
        }
        catch (Exception exception) // the result's own code may throw anything
        {
            json = [];
            return $"The result of {actor}.{Name} cannot be written as JSON: {exception.Words()}";
        }

        if (json.Length > limit)
        {
            return $"The result of {actor}.{Name} has {json.Length} bytes; the limit is {limit}.";
        }

        return null;
    }

    /// <summary>The result of a call, from UTF-8 JSON.</summary>
    /// <returns>Null, or why it cannot be read.</returns>
    public string? TryDecodeResult(ReadOnlySpan<byte> json, ActorKey actor, out TResult result)
    {
        using var code = ValueCode.Enter();
        try
        {
            result = _result is null ? default! : JsonSerializer.Deserialize(json, _result)!;
            return null;
        }
        catch (Exception exception) // the result's own code may throw anything
        {
            result = default!;
            return $"The result of {actor}.{Name} cannot be read: {exception.Words()}";
        }
    }

    private static readonly byte[] NullJson = "null"u8.ToArray();
}

public sealed class RootMethodFactory(JsonSerializerOptions json, JsonSerializerOptions inputJson) : IActorMethodVisitor<RootMethod>
{
    public RootMethod Visit<TInput, TResult>(ActorMethod<TInput, TResult> method) => new RootMethod<TInput, TResult>(method, json, inputJson);
}
