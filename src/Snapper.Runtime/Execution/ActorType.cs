using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Runtime.Json;

namespace Snapper.Runtime.Execution;

/// <summary>An actor type as the worker runs it: its descriptor, its methods by name and how its state is read and written.</summary>
public sealed class ActorType
{
    private readonly Dictionary<string, RootMethod> _methods = new(StringComparer.Ordinal);
    private readonly StateCodec _state;
    private readonly StateReplacementMethod _import;
    private readonly StateReplacementMethod _delete;
    private readonly StateReplacementMethod _importOverDamage;
    private readonly StateReplacementMethod _deleteDamaged;
    private readonly RootMethod _read;
    private readonly RootMethod _readAll;

    /// <summary>Prepares a type; reflection, if any, happens here and not per message.</summary>
    /// <param name="descriptor">What the generator knows of the class.</param>
    /// <param name="json">How states and results are written, and states read.</param>
    /// <param name="inputJson">How inputs are read.</param>
    public ActorType(ActorTypeDescriptor descriptor, JsonSerializerOptions json, JsonSerializerOptions inputJson)
    {
        Descriptor = descriptor;
        _state = new StateCodec(descriptor, json);
        var factory = new RootMethodFactory(json, inputJson);
        foreach (var method in descriptor.Methods)
        {
            _methods.Add(method.Name, method.Accept(factory));
        }

        _import = StateReplacementMethod.Import(this, overDamage: false, inputJson);
        _delete = StateReplacementMethod.Delete(overDamage: false, inputJson);
        _importOverDamage = StateReplacementMethod.Import(this, overDamage: true, inputJson);
        _deleteDamaged = StateReplacementMethod.Delete(overDamage: true, inputJson);
        _read = factory.Visit(StateReader.ReadOne);
        _readAll = factory.Visit(StateReader.ReadAll);
    }

    /// <summary>What the generator knows of the class.</summary>
    public ActorTypeDescriptor Descriptor { get; }

    public string Name => Descriptor.Type;

    public IEnumerable<RootMethod> Methods => _methods.Values;

    /// <summary>The method of that name, of the class or of <see cref="Door.StateMethods"/>; null: none.</summary>
    public RootMethod? Find(string method) => _methods.GetValueOrDefault(method) ?? method switch
    {
        Door.StateMethods.Import => _import,
        Door.StateMethods.Delete => _delete,
        Door.StateMethods.ImportOverDamage => _importOverDamage,
        Door.StateMethods.DeleteDamaged => _deleteDamaged,
        Door.StateMethods.Read => _read,
        Door.StateMethods.ReadAll => _readAll,
        _ => null,
    };

    /// <summary>A state of the type was read as it had been written, and that holds for all of them.</summary>
    internal bool IsReadBack { get; set; }

    /// <summary>A state that a sub-batch has left could not be kept, in this process.</summary>
    internal bool WasUnfit { get; set; }

    /// <summary>The state as UTF-8 JSON.</summary>
    public byte[] Encode(object state)
    {
        using var code = ValueCode.Enter();
        return _state.Encode(state);
    }

    /// <summary>The state from UTF-8 JSON, also of an older version.</summary>
    /// <exception cref="JsonException">It does not fit the state type.</exception>
    /// <exception cref="NewerStateException">It is of a version that this program does not know.</exception>
    public object Decode(ReadOnlySpan<byte> json)
    {
        using var code = ValueCode.Enter();
        return _state.Decode(json);
    }

    /// <summary>A copy of a mutable state for one attempt (A8: undo replaces the object, it never writes into it).</summary>
    public object Copy(object state)
    {
        using var code = ValueCode.Enter();
        return _state.Copy(state);
    }
}
